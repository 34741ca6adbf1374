// A JSON tree that lives for one request.
//
// A Value is a 16-byte handle, free to copy. Scalars are held in it; strings point into an Arena
// (or at text that outlives the tree); arrays and objects are nodes in an Arena, shared by all
// copies of the handle: changing one changes all. Nothing is freed before the Arena goes. Objects
// keep the order in which members were added; large ones find their members by a hash index. A tree
// that nobody changes may be read by many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::json {

// Memory that is given back all at once.
class Arena {
 public:
  // Memory is taken in blocks that grow; who knows how much will be needed saves a few of them.
  explicit Arena(std::size_t first_block = 8 * 1024) : least_block_(first_block) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(std::size_t size, std::size_t alignment) {
    const std::size_t gap = -reinterpret_cast<std::uintptr_t>(at_) & (alignment - 1);
    if (static_cast<std::size_t>(end_ - at_) < gap + size) return allocate_block(size);
    std::byte* const at = at_ + gap;
    at_ = at + size;
    used_ += size;
    return at;
  }
  std::string_view copy(std::string_view text);
  // Keeps foreign memory alive as long as the arena, so that Values may point into it.
  void keep(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }
  std::size_t used() const { return used_; }

 private:
  void* allocate_block(std::size_t size);

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t least_block_;
  std::size_t used_ = 0;
  std::vector<std::shared_ptr<const void>> kept_;
};

enum class Kind : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

struct Member;

class Value {
 public:
  Value() = default;  // null
  static Value of(bool value);
  static Value of(std::int64_t value);
  static Value of(int value) { return of(std::int64_t{value}); }
  static Value of(unsigned value) { return of(std::int64_t{value}); }
  static Value of(std::uint64_t value);  // kInt if it fits, else kUint
  static Value of(double value);  // finite; -0 becomes 0, or written text would not be stable
  static Value of(const char*) = delete;  // would become a bool
  // Text that outlives the tree: literals, or text that lies in the same arena.
  static Value view(std::string_view text);
  static Value string(Arena& arena, std::string_view text) { return view(arena.copy(text)); }
  static Value array(Arena& arena, std::size_t capacity = 0);
  static Value object(Arena& arena, std::size_t capacity = 0);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_int() const { return kind_ == Kind::kInt; }
  bool is_number() const {
    return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble;
  }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  // Of another kind: false, 0, empty.
  bool as_bool() const { return is_bool() && bool_; }
  std::int64_t as_int() const;  // a kDouble with an integral value counts
  std::uint64_t as_uint() const;
  double as_double() const;  // of any number
  std::string_view as_string() const {
    return is_string() ? std::string_view(text_, length_) : std::string_view();
  }

  // Arrays. On another kind: size 0, no items; changing asserts.
  std::size_t size() const;  // of arrays and objects
  bool empty() const { return size() == 0; }
  std::span<Value> items() const;
  Value item(std::size_t index) const;  // null past the end
  void push_back(Value value) const;
  void insert(std::size_t index, Value value) const;
  void erase_item(std::size_t index) const;
  void resize(std::size_t size) const;

  // Objects. On another kind: nothing is found; changing asserts.
  std::span<Member> members() const;
  Value* find(std::string_view key) const;  // null pointer if absent; valid until the next change
  bool has(std::string_view key) const { return find(key) != nullptr; }
  Value get(std::string_view key) const;  // null if absent
  // spec.template.spec as get({"spec", "template", "spec"}); null as soon as one is absent.
  Value get(std::initializer_list<std::string_view> path) const;
  // Replaces in place or appends. The key is copied into the arena of the object's node when added;
  // the value's own text is not.
  void set(std::string_view key, Value value) const;
  void set(std::string_view key, std::string_view text) const;  // copies the text
  void set(std::string_view key, const char* text) const { set(key, std::string_view(text)); }
  bool erase(std::string_view key) const;  // true if it was there
  // Removes many members in one pass; returns how many.
  std::size_t erase_if(const std::function<bool(const Member&)>& doomed) const;
  // For builders: the key is known to be new, and lives as long as the tree.
  void append(std::string_view key, Value value) const;
  // The member's object or array; put in place of anything else, or added if absent.
  Value object_at(std::string_view key) const;
  Value array_at(std::string_view key) const;
  void sort_keys() const;  // this object only, by bytes

  Arena& arena() const;  // of an array or object

 private:
  struct ArrayNode;
  struct ObjectNode;
  Kind kind_ = Kind::kNull;
  std::uint32_t length_ = 0;  // of a string
  union {
    bool bool_;
    std::int64_t int_;
    std::uint64_t uint_;
    double double_;
    const char* text_;
    ArrayNode* array_;
    ObjectNode* object_ = nullptr;
  };
};
static_assert(sizeof(Value) == 16);

struct Member {
  std::string_view key;
  Value value;
};

// Deep equality. Objects are equal whatever their order; 1 and 1.0 are equal. An integer equals a
// double that it rounds to: the text of a large double reads back as such an integer.
bool equal(Value a, Value b);
// A deep copy that shares nothing with the source, text included.
Value clone(Arena& arena, Value value);

}  // namespace muster::json
