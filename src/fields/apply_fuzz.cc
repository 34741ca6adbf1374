// A series of writes to one object, made from the input by the schema of a small kind that has a
// place of every sort. Whatever happens, ownership must stay sound.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "fields/document_set.h"
#include "fields/managed_fields.h"
#include "fields/managers.h"
#include "fields/reset_fields.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

using api::Schema;
using api::Shape;
using json::Value;

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  std::size_t pick(std::size_t count) { return next() % count; }

 private:
  std::span<const std::uint8_t> rest_;
};

constexpr std::array<std::string_view, 4> kWords = {"a", "b", "c", ""};

// Documents that mostly fit the schema: a few values, so that things collide, and now and then
// something else.
class Generator {
 public:
  Generator(json::Arena& arena, Bytes& bytes) : arena_(arena), bytes_(bytes) {}

  Value make(const Schema* type, int depth = 0) {
    if (bytes_.next() > 250 || type == nullptr || depth > 8) return anything(depth);
    switch (type->shape) {
      case Shape::kStruct:
        return object(*type, depth);
      case Shape::kMap:
        return map(*type, depth);
      case Shape::kList:
        return list(*type, depth);
      case Shape::kInteger:
      case Shape::kNumber:
        return Value::of(static_cast<int>(bytes_.pick(3)));
      case Shape::kBoolean:
        return Value::of(bytes_.pick(2) == 1);
      case Shape::kAny:
      case Shape::kIntOrString:
        return anything(depth);
      default:
        return word();
    }
  }

 private:
  Value word() { return Value::view(kWords[bytes_.pick(kWords.size())]); }

  Value object(const Schema& type, int depth) {
    const Value made = Value::object(arena_);
    for (const api::Field& field : type.fields) {
      if (field.name == "managedFields" || field.name == "uid") continue;
      if (field.required || bytes_.pick(3) == 0)
        made.append(field.name, make(field.schema, depth + 1));
    }
    return made;
  }

  Value map(const Schema& type, int depth) {
    const Value made = Value::object(arena_);
    for (std::size_t i = bytes_.pick(3); i > 0; --i)
      made.set(word().as_string(), make(type.elem, depth + 1));
    return made;
  }

  Value list(const Schema& type, int depth) {
    const Value made = Value::array(arena_);
    for (std::size_t i = bytes_.pick(4); i > 0; --i) made.push_back(make(type.elem, depth + 1));
    return made;
  }

  Value anything(int depth) {
    switch (bytes_.pick(depth > 8 ? 4 : 6)) {
      case 0:
        return {};
      case 1:
        return Value::of(static_cast<int>(bytes_.pick(3)));
      case 2:
        return Value::of(bytes_.pick(2) == 1);
      case 3:
        return word();
      case 4: {
        const Value made = Value::array(arena_);
        for (std::size_t i = bytes_.pick(3); i > 0; --i) made.push_back(anything(depth + 1));
        return made;
      }
      default: {
        const Value made = Value::object(arena_);
        for (std::size_t i = bytes_.pick(3); i > 0; --i)
          made.set(word().as_string(), anything(depth + 1));
        return made;
      }
    }
  }

  json::Arena& arena_;
  Bytes& bytes_;
};

class Story {
 public:
  explicit Story(Bytes& bytes) : bytes_(bytes) {}

  void run() {
    for (int step = 0; step < 8 && !bytes_.empty(); ++step) {
      const Writer writer{.manager = kWords[bytes_.pick(3)],
                          .subresource = bytes_.pick(4) == 0 ? "status" : "",
                          .resource = &ThingKind::resource(),
                          .now = Time(std::chrono::seconds(1'800'000'000 + step))};
      const Value document = Generator(arena_, bytes_).make(ThingKind::type());
      if (!document.is_object() || !document.object_at("metadata").is_object()) continue;
      if (bytes_.pick(2) == 0) {
        apply_twice(writer, document, bytes_.pick(2) == 0);
      } else {
        update(writer, document);
      }
    }
  }

 private:
  void update(const Writer& writer, Value document) {
    const std::string before = json::write(live_);
    track_update(arena_, writer, live_, document);
    MUSTER_ASSERT(json::write(live_) == before, "the live object is not to be touched");
    MUSTER_ASSERT(check_managed_fields(entries(document)).has_value(), "entries can be read");
    live_ = document;
  }

  void apply_twice(const Writer& writer, Value document, bool force) {
    const std::string before = json::write(live_);
    const Result<Applied> first = apply(arena_, writer, live_, document, force);
    MUSTER_ASSERT(json::write(live_) == before, "the live object is not to be touched");
    if (!first) {
      MUSTER_ASSERT(first.error().code == Code::kUntranslated || !force,
                    "force knows no conflicts");
      return;
    }
    check_owned(writer, document, first->object);
    live_ = first->object;
    // Pruning may leave an item without its keys, which is refused.
    const Result<Applied> second = apply(arena_, writer, live_, document, true);
    if (!second) return;
    check_owned(writer, document, second->object);
    MUSTER_ASSERT(
        second->changed || json::equal(without_entries(second->object), without_entries(live_)),
        "what did not change is equal");
    live_ = second->object;
  }

  // An applier owns its document.
  void check_owned(const Writer& writer, Value document, Value object) {
    FieldSet expected = set_of_document(arena_, writer.resource->schema, document);
    expected =
        subtract_trees(std::move(expected), reset_fields(*writer.resource, writer.subresource));
    expected = subtract(std::move(expected), server_fields());
    FieldSet owned;
    const Managers managers = *read_managers(arena_, entries(object));
    for (const auto& [identity, entry] : managers) {
      if (entry.manager == writer.manager && entry.operation == Operation::kApply &&
          entry.subresource == writer.subresource) {
        owned = entry.fields;
      }
    }
    MUSTER_ASSERT(owned == expected, "an applier owns what it applied");
  }

  Value without_entries(Value object) {
    const Value copy = json::clone(arena_, object);
    copy.get("metadata").erase("managedFields");
    return copy;
  }
  static Value entries(Value object) { return object.get({"metadata", "managedFields"}); }

  Bytes& bytes_;
  json::Arena arena_;
  Value live_;
};

}  // namespace
}  // namespace muster::fields

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fields::Bytes bytes(data, size);
  muster::fields::Story(bytes).run();
  return 0;
}
