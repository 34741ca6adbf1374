#include "json/value.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/result.h"

namespace muster::json {
namespace {

constexpr std::size_t kLargestBlock = 256 * 1024;
constexpr std::uint32_t kFirstCapacity = 4;
// Up to here a scan beats hashing.
constexpr std::uint32_t kScanLimit = 32;

std::uint32_t narrow(std::size_t size) {
  MUSTER_ASSERT(size <= std::numeric_limits<std::uint32_t>::max(), "JSON value beyond 4 GiB");
  return static_cast<std::uint32_t>(size);
}

// Folded multiplication, eight bytes at a time. The seed is an address, so that nobody outside
// knows which keys collide; order never depends on it.
std::uint64_t hash_key(std::string_view key, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t state = fold(seed ^ key.size(), kOdd);
  while (!key.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min<std::size_t>(key.size(), sizeof word);
    std::memcpy(&word, key.data(), size);
    state = fold(state ^ word, seed | kOdd);
    key.remove_prefix(size);
  }
  return fold(state, kOdd);
}

// Makes room for one element more.
template <class T>
void grow(Arena& arena, T*& data, std::uint32_t size, std::uint32_t& capacity, std::size_t wanted) {
  if (wanted <= capacity) return;
  const std::uint32_t larger =
      narrow(std::max<std::size_t>({wanted, std::size_t{capacity} * 2, kFirstCapacity}));
  T* const moved = static_cast<T*>(arena.allocate(sizeof(T) * larger, alignof(T)));
  std::uninitialized_copy_n(data, size, moved);
  data = moved;
  capacity = larger;
}

}  // namespace

void* Arena::allocate_block(std::size_t size) {
  // Large pieces get a block of their own, so that the rest of the current one is not lost.
  const std::size_t usual = std::max(least_block_, std::min(used_, kLargestBlock));
  used_ += size;
  if (size > usual / 4) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    return blocks_.back().get();
  }
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(usual));
  at_ = blocks_.back().get() + size;
  end_ = blocks_.back().get() + usual;
  return blocks_.back().get();
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* const to = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

struct Value::ArrayNode {
  Arena* arena;
  Value* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
};

// Beyond kScanLimit members there is always an index: an open-addressed table of member numbers
// plus one, at most half full. It is kept by the functions that change the object and only read by
// find(), so that concurrent readers need no lock.
struct Value::ObjectNode {
  Arena* arena;
  Member* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t capacity = 0;
  std::uint32_t* slots = nullptr;
  std::uint32_t slot_count = 0;  // a power of two, or 0

  bool indexed() const { return size > kScanLimit; }

  std::uint32_t home_of(std::string_view key) const {
    const auto seed = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
    return static_cast<std::uint32_t>(hash_key(key, seed)) & (slot_count - 1);
  }

  Member* find(std::string_view key) const {
    if (!indexed()) {
      for (Member* m = data; m != data + size; ++m)
        if (m->key == key) return m;
      return nullptr;
    }
    for (std::uint32_t at = home_of(key); slots[at] != 0; at = (at + 1) & (slot_count - 1))
      if (data[slots[at] - 1].key == key) return &data[slots[at] - 1];
    return nullptr;
  }

  void enter(std::uint32_t number) const {
    std::uint32_t at = home_of(data[number].key);
    while (slots[at] != 0) at = (at + 1) & (slot_count - 1);
    slots[at] = number + 1;
  }

  void rebuild_index() {
    if (!indexed()) return;
    if (slot_count < size * 2) {
      slot_count = 4 * kScanLimit;
      while (slot_count < size * 4) slot_count *= 2;
      slots = static_cast<std::uint32_t*>(
          arena->allocate(sizeof(std::uint32_t) * slot_count, alignof(std::uint32_t)));
    }
    std::fill_n(slots, slot_count, 0U);
    for (std::uint32_t number = 0; number < size; ++number) enter(number);
  }

  void append(Member member) {
    grow(*arena, data, size, capacity, std::size_t{size} + 1);
    std::construct_at(data + size, member);
    ++size;
    if (!indexed()) return;
    if (size == kScanLimit + 1 || slot_count < size * 2) {
      rebuild_index();
    } else {
      enter(size - 1);
    }
  }
};

Value Value::of(bool value) {
  Value made;
  made.kind_ = Kind::kBool;
  made.bool_ = value;
  return made;
}

Value Value::of(std::int64_t value) {
  Value made;
  made.kind_ = Kind::kInt;
  made.int_ = value;
  return made;
}

Value Value::of(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return of(static_cast<std::int64_t>(value));
  Value made;
  made.kind_ = Kind::kUint;
  made.uint_ = value;
  return made;
}

Value Value::of(double value) {
  MUSTER_ASSERT(std::isfinite(value), "JSON knows no infinity and no NaN");
  Value made;
  made.kind_ = Kind::kDouble;
  made.double_ = value == 0 ? 0.0 : value;
  return made;
}

Value Value::view(std::string_view text) {
  Value made;
  made.kind_ = Kind::kString;
  made.length_ = narrow(text.size());
  made.text_ = text.data();
  return made;
}

Value Value::array(Arena& arena, std::size_t capacity) {
  Value made;
  made.kind_ = Kind::kArray;
  made.array_ = new (arena.allocate(sizeof(ArrayNode), alignof(ArrayNode))) ArrayNode{&arena};
  if (capacity > 0) grow(arena, made.array_->data, 0, made.array_->capacity, capacity);
  return made;
}

Value Value::object(Arena& arena, std::size_t capacity) {
  Value made;
  made.kind_ = Kind::kObject;
  made.object_ = new (arena.allocate(sizeof(ObjectNode), alignof(ObjectNode))) ObjectNode{&arena};
  if (capacity > 0) grow(arena, made.object_->data, 0, made.object_->capacity, capacity);
  return made;
}

std::int64_t Value::as_int() const {
  if (kind_ == Kind::kInt) return int_;
  if (kind_ != Kind::kDouble || std::trunc(double_) != double_) return 0;
  return double_ >= -0x1p63 && double_ < 0x1p63 ? static_cast<std::int64_t>(double_) : 0;
}

std::uint64_t Value::as_uint() const {
  if (kind_ == Kind::kUint) return uint_;
  if (kind_ == Kind::kInt) return int_ >= 0 ? static_cast<std::uint64_t>(int_) : 0;
  if (kind_ != Kind::kDouble || std::trunc(double_) != double_) return 0;
  return double_ >= 0 && double_ < 0x1p64 ? static_cast<std::uint64_t>(double_) : 0;
}

double Value::as_double() const {
  switch (kind_) {
    case Kind::kInt:
      return static_cast<double>(int_);
    case Kind::kUint:
      return static_cast<double>(uint_);
    case Kind::kDouble:
      return double_;
    default:
      return 0;
  }
}

std::size_t Value::size() const {
  if (is_array()) return array_->size;
  return is_object() ? object_->size : 0;
}

std::span<Value> Value::items() const {
  if (!is_array()) return {};
  return {array_->data, array_->size};
}

Value Value::item(std::size_t index) const {
  return is_array() && index < array_->size ? array_->data[index] : Value();
}

void Value::push_back(Value value) const { insert(size(), value); }

void Value::insert(std::size_t index, Value value) const {
  MUSTER_ASSERT(is_array(), "insert into something that is not an array");
  ArrayNode& node = *array_;
  MUSTER_ASSERT(index <= node.size, "insert past the end of an array");
  grow(*node.arena, node.data, node.size, node.capacity, std::size_t{node.size} + 1);
  std::construct_at(node.data + node.size);
  std::copy_backward(node.data + index, node.data + node.size, node.data + node.size + 1);
  node.data[index] = value;
  ++node.size;
}

void Value::erase_item(std::size_t index) const {
  MUSTER_ASSERT(is_array() && index < array_->size, "erase of an item that is not there");
  std::copy(array_->data + index + 1, array_->data + array_->size, array_->data + index);
  --array_->size;
}

void Value::resize(std::size_t size) const {
  MUSTER_ASSERT(is_array(), "resize of something that is not an array");
  ArrayNode& node = *array_;
  grow(*node.arena, node.data, node.size, node.capacity, size);
  for (std::size_t i = node.size; i < size; ++i) std::construct_at(node.data + i);
  node.size = narrow(size);
}

std::span<Member> Value::members() const {
  if (!is_object()) return {};
  return {object_->data, object_->size};
}

Value* Value::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  Member* const member = object_->find(key);
  return member ? &member->value : nullptr;
}

Value Value::get(std::string_view key) const {
  const Value* const found = find(key);
  return found ? *found : Value();
}

Value Value::get(std::initializer_list<std::string_view> path) const {
  Value at = *this;
  for (const std::string_view key : path) at = at.get(key);
  return at;
}

void Value::set(std::string_view key, Value value) const {
  MUSTER_ASSERT(is_object(), "set on something that is not an object");
  if (Member* const member = object_->find(key)) {
    member->value = value;
  } else {
    object_->append({object_->arena->copy(key), value});
  }
}

void Value::set(std::string_view key, std::string_view text) const {
  set(key, string(arena(), text));
}

void Value::append(std::string_view key, Value value) const {
  MUSTER_ASSERT(is_object(), "append to something that is not an object");
  object_->append({key, value});
}

bool Value::erase(std::string_view key) const {
  MUSTER_ASSERT(is_object(), "erase from something that is not an object");
  ObjectNode& node = *object_;
  Member* const member = node.find(key);
  if (!member) return false;
  std::copy(member + 1, node.data + node.size, member);
  --node.size;
  node.rebuild_index();
  return true;
}

std::size_t Value::erase_if(const std::function<bool(const Member&)>& doomed) const {
  MUSTER_ASSERT(is_object(), "erase from something that is not an object");
  ObjectNode& node = *object_;
  Member* const end = std::remove_if(node.data, node.data + node.size, std::cref(doomed));
  const auto left = static_cast<std::uint32_t>(end - node.data);
  const std::size_t erased = node.size - left;
  node.size = left;
  if (erased > 0) node.rebuild_index();
  return erased;
}

Value Value::object_at(std::string_view key) const {
  if (Value* const found = find(key); found && found->is_object()) return *found;
  const Value made = object(arena());
  set(key, made);
  return made;
}

Value Value::array_at(std::string_view key) const {
  if (Value* const found = find(key); found && found->is_array()) return *found;
  const Value made = array(arena());
  set(key, made);
  return made;
}

void Value::sort_keys() const {
  MUSTER_ASSERT(is_object(), "sort_keys on something that is not an object");
  std::ranges::sort(members(), {}, &Member::key);
  object_->rebuild_index();
}

Arena& Value::arena() const {
  MUSTER_ASSERT(is_array() || is_object(), "only arrays and objects know their arena");
  return is_array() ? *array_->arena : *object_->arena;
}

namespace {

bool equal_numbers(Value a, Value b) {
  if (a.kind() == Kind::kDouble || b.kind() == Kind::kDouble) return a.as_double() == b.as_double();
  if (a.kind() != b.kind()) return false;  // what fits a kInt is never a kUint
  return a.is_int() ? a.as_int() == b.as_int() : a.as_uint() == b.as_uint();
}

bool equal_objects(Value a, Value b) {
  for (const Member& member : a.members()) {
    const Value* const other = b.find(member.key);
    if (!other || !equal(member.value, *other)) return false;
  }
  return true;
}

}  // namespace

bool equal(Value a, Value b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  switch (a.kind()) {
    case Kind::kBool:
      return a.as_bool() == b.as_bool();
    case Kind::kString:
      return a.as_string() == b.as_string();
    case Kind::kArray:
      return std::ranges::equal(a.items(), b.items(), equal);
    case Kind::kObject:
      return equal_objects(a, b);
    default:
      return true;
  }
}

Value clone(Arena& arena, Value value) {
  switch (value.kind()) {
    case Kind::kString:
      return Value::string(arena, value.as_string());
    case Kind::kArray: {
      const Value copy = Value::array(arena, value.size());
      for (const Value item : value.items()) copy.push_back(clone(arena, item));
      return copy;
    }
    case Kind::kObject: {
      const Value copy = Value::object(arena, value.size());
      for (const Member& member : value.members())
        copy.append(arena.copy(member.key), clone(arena, member.value));
      return copy;
    }
    default:
      return value;
  }
}

}  // namespace muster::json
