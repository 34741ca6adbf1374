#include "admission/arrange.h"

#include <algorithm>
#include <vector>

namespace muster::admission {
namespace {

using api::Field;
using api::Schema;
using api::Shape;
using json::Member;
using json::Value;

void sort_all_keys(Value value) {
  for (const Value item : value.items()) sort_all_keys(item);
  if (!value.is_object()) return;
  if (!std::ranges::is_sorted(value.members(), {}, &Member::key)) value.sort_keys();
  for (const Member& member : value.members()) sort_all_keys(member.value);
}

std::size_t place_of(const Schema& schema, std::string_view key) {
  const Field* const field = schema.field(key);
  return field ? static_cast<std::size_t>(field - schema.fields.data()) : schema.fields.size();
}

void order_fields(Value object, const Schema& schema) {
  const auto place = [&](const Member& member) { return place_of(schema, member.key); };
  if (std::ranges::is_sorted(object.members(), {}, place)) return;
  const auto now = object.members();
  std::vector<Member> ordered(now.begin(), now.end());
  std::ranges::stable_sort(ordered, {}, place);
  object.erase_if([](const Member&) { return true; });
  for (const Member& member : ordered) object.append(member.key, member.value);
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
      if (!value.is_object()) return;
      order_fields(value, schema);
      for (const Member& member : value.members())
        if (const Field* const field = schema.field(member.key))
          arrange_value(member.value, *field->schema);
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
    sort_all_keys(object);
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
