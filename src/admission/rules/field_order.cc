#include "admission/rules/field_order.h"

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

// The place of a member among the fields of its schema; behind them all if it is unknown. Members
// mostly are in order already, so that the one after the last is looked at first.
std::size_t place_of(const Schema& schema, std::string_view key, std::size_t expected) {
  if (expected < schema.fields.size() && schema.fields[expected].name == key) return expected;
  const int at = schema.field_position(key);
  return at < 0 ? schema.fields.size() : static_cast<std::size_t>(at);
}

void order_fields(Value object, const Schema& schema) {
  std::vector<std::pair<std::size_t, Member>> ordered;
  ordered.reserve(object.size());
  for (const Member& member : object.members())
    ordered.emplace_back(place_of(schema, member.key, 0), member);
  std::ranges::stable_sort(ordered, {}, &std::pair<std::size_t, Member>::first);
  object.erase_if([](const Member&) { return true; });
  for (const auto& [place, member] : ordered) object.append(member.key, member.value);
}

void order_value(Value value, const Schema& schema);

void order_struct(Value object, const Schema& schema) {
  std::size_t last = 0;
  std::size_t expected = 0;
  bool ordered = true;
  for (const Member& member : object.members()) {
    const std::size_t at = place_of(schema, member.key, expected);
    ordered = ordered && last <= at;
    last = at;
    if (at == schema.fields.size()) continue;
    expected = at + 1;
    order_value(member.value, *schema.fields[at].schema);
  }
  if (!ordered) order_fields(object, schema);
}

void order_value(Value value, const Schema& schema) {
  switch (schema.shape) {
    case Shape::kList:
      for (const Value item : value.items()) order_value(item, *schema.elem);
      return;
    case Shape::kMap:
      if (!value.is_object()) return;
      if (!std::ranges::is_sorted(value.members(), {}, &Member::key)) value.sort_keys();
      for (const Member& member : value.members()) order_value(member.value, *schema.elem);
      return;
    case Shape::kStruct:
      if (value.is_object()) order_struct(value, schema);
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

void order_fields(Value object, const api::Resource& resource) {
  if (resource.custom)
    json::sort_all_keys(object);
  else
    order_value(object, *resource.schema);
}

Value empty_form(json::Arena& arena, const Schema& schema) {
  const Value made = Value::object(arena);
  for (const Field& field : schema.fields)
    if (field.emit_always) made.set(field.name, empty_field(arena, field));
  return made;
}

}  // namespace muster::admission
