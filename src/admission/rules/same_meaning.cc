#include "admission/rules/same_meaning.h"

#include <algorithm>
#include <string>

#include "api/values/quantity.h"

namespace muster::admission {
namespace {

using api::Field;
using api::Schema;
using api::Shape;
using json::Value;

bool is_zero(Value value, Shape shape) {
  switch (shape) {
    case Shape::kString:
      return value.is_string() && value.as_string().empty();
    case Shape::kInteger:
    case Shape::kNumber:
      return value.is_number() && value.as_double() == 0;
    case Shape::kBoolean:
      return value.is_bool() && !value.as_bool();
    default:
      return false;
  }
}

bool same_scalar(Value a, Value b, Shape shape) {
  const bool nothing_a = a.is_null() || is_zero(a, shape);
  const bool nothing_b = b.is_null() || is_zero(b, shape);
  return nothing_a || nothing_b ? nothing_a && nothing_b : json::equal(a, b);
}

Result<api::Quantity> amount(Value value) {
  if (value.is_null()) return api::Quantity();
  return api::Quantity::read(value);
}

bool same_amount(Value a, Value b) {
  if (json::equal(a, b)) return true;
  const auto first = amount(a), second = amount(b);
  return first && second && *first == *second;
}

bool same_lists(Value a, Value b, const Schema& item) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_meaning(a.item(i), b.item(i), item)) return false;
  return true;
}

bool same_maps(Value a, Value b, const Schema& value) {
  return a.size() == b.size() && std::ranges::all_of(a.members(), [&](const json::Member& each) {
           return b.has(each.key) && same_meaning(each.value, b.get(each.key), value);
         });
}

bool same_field(Value a, Value b, const Field& field) {
  if (field.pointer && a.is_null() != b.is_null()) return false;
  return same_meaning(a, b, *field.schema);
}

// Members that the type does not have.
bool same_strangers(Value a, Value b, const Schema& schema) {
  return std::ranges::all_of(a.members(), [&](const json::Member& each) {
    return schema.field(each.key) != nullptr || json::equal(each.value, b.get(each.key));
  });
}

bool same_structs(Value a, Value b, const Schema& schema) {
  return same_strangers(a, b, schema) && same_strangers(b, a, schema) &&
         std::ranges::all_of(schema.fields, [&](const Field& field) {
           return same_field(a.get(field.name), b.get(field.name), field);
         });
}

}  // namespace

bool same_meaning(Value a, Value b, const Schema& schema) {
  if (a.is_null() && b.is_null()) return true;
  const bool objects = (a.is_object() || a.is_null()) && (b.is_object() || b.is_null());
  const bool lists = (a.is_array() || a.is_null()) && (b.is_array() || b.is_null());
  switch (schema.shape) {
    case Shape::kStruct:
      return objects ? same_structs(a, b, schema) : json::equal(a, b);
    case Shape::kMap:
      return objects ? same_maps(a, b, *schema.elem) : json::equal(a, b);
    case Shape::kList:
      return lists ? same_lists(a, b, *schema.elem) : json::equal(a, b);
    case Shape::kQuantity:
      return same_amount(a, b);
    default:
      return same_scalar(a, b, schema.shape);
  }
}

}  // namespace muster::admission
