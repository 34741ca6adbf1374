// Defaults of a custom resource's schema.
#include "api/decode/decode.h"

namespace muster::api {
namespace {

using json::Member;
using json::Value;

bool is_missing(const Value* value, const Schema& schema) {
  return value == nullptr || (value->is_null() && !schema.nullable);
}

void fill(Value value, const Schema& schema) {
  switch (schema.shape) {
    case Shape::kStruct:
      if (value.is_object()) apply_schema_defaults(value, schema);
      break;
    case Shape::kMap:
      for (const Member& member : value.members()) fill(member.value, *schema.elem);
      break;
    case Shape::kList:
      for (const Value item : value.items()) fill(item, *schema.elem);
      break;
    default:
      break;
  }
}

}  // namespace

void apply_schema_defaults(Value object, const Schema& schema) {
  bool added = false;
  for (const Field& field : schema.fields) {
    if (field.default_value && is_missing(object.find(field.name), *field.schema)) {
      object.set(field.name, json::clone(object.arena(), *field.default_value));
      added = true;
    }
    if (const Value* const value = object.find(field.name)) fill(*value, *field.schema);
  }
  if (added) object.sort_keys();
}

}  // namespace muster::api
