#include "admission/arrange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/sort_keys.h"

namespace muster::admission {
namespace {

using api::Field;
using api::Schema;
using api::Shape;
using json::Member;
using json::Value;

// The places of an object's members among the fields of its schema.
class Places {
 public:
  // Members mostly are in order already, so the search goes on where the last one ended.
  Places(Value object, const Schema& schema) {
    std::size_t hint = 0;
    for (const Member& member : object.members()) {
      std::size_t at = hint;
      while (at < schema.fields.size() && schema.fields[at].name != member.key) ++at;
      if (at == schema.fields.size()) at = place_of(schema, member.key);
      ordered_ = ordered_ && (places_.empty() || places_.back() <= at);
      places_.push_back(at);
      hint = at < schema.fields.size() ? at + 1 : hint;
    }
  }

  bool ordered() const { return ordered_; }
  std::size_t operator[](std::size_t member) const { return places_[member]; }

 private:
  static std::size_t place_of(const Schema& schema, std::string_view key) {
    const Field* const field = schema.field(key);
    return field ? static_cast<std::size_t>(field - schema.fields.data()) : schema.fields.size();
  }

  std::vector<std::size_t> places_;
  bool ordered_ = true;
};

void order_fields(Value object, const Places& places) {
  std::vector<std::pair<std::size_t, Member>> ordered;
  for (std::size_t i = 0; i < object.size(); ++i)
    ordered.emplace_back(places[i], object.members()[i]);
  std::ranges::stable_sort(ordered, {}, &std::pair<std::size_t, Member>::first);
  object.erase_if([](const Member&) { return true; });
  for (const auto& [place, member] : ordered) object.append(member.key, member.value);
}

void arrange_value(Value value, const Schema& schema);

void arrange_struct(Value object, const Schema& schema) {
  const Places places(object, schema);
  for (std::size_t i = 0; i < object.size(); ++i)
    if (places[i] < schema.fields.size())
      arrange_value(object.members()[i].value, *schema.fields[places[i]].schema);
  if (!places.ordered()) order_fields(object, places);
}

void arrange_value(Value value, const Schema& schema) {
  switch (schema.shape) {
    case Shape::kList:
      for (const Value item : value.items()) arrange_value(item, *schema.elem);
      return;
    case Shape::kMap:
      if (!value.is_object()) return;
      if (!std::ranges::is_sorted(value.members(), {}, &Member::key)) value.sort_keys();
      for (const Member& member : value.members()) arrange_value(member.value, *schema.elem);
      return;
    case Shape::kStruct:
      if (value.is_object()) arrange_struct(value, schema);
      return;
    default:
      return;
  }
}

Value empty_field(json::Arena& arena, const Field& field) {
  if (field.pointer) return {};
  switch (field.schema->shape) {
    case Shape::kStruct:
      return empty_form(arena, *field.schema);
    case Shape::kString:
      return Value::view("");
    case Shape::kInteger:
    case Shape::kNumber:
      return Value::of(0);
    case Shape::kBoolean:
      return Value::of(false);
    case Shape::kQuantity:
      return Value::view("0");
    default:
      return {};
  }
}

}  // namespace

void arrange(Value object, const api::Resource& resource) {
  if (resource.custom)
    json::sort_all_keys(object);
  else
    arrange_value(object, *resource.schema);
}

Value empty_form(json::Arena& arena, const Schema& schema) {
  const Value made = Value::object(arena);
  for (const Field& field : schema.fields)
    if (field.emit_always) made.set(field.name, empty_field(arena, field));
  return made;
}

}  // namespace muster::admission
