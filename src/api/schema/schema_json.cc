#include "api/schema/schema_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

// Types with a JSON form of their own: no value stands for "not set", so elements have no default.
bool has_own_form(Shape shape) {
  return shape != Shape::kStruct && shape != Shape::kMap && shape != Shape::kList;
}

Value default_of_element(json::Arena& arena, Shape shape) {
  switch (shape) {
    case Shape::kStruct:
      return Value::object(arena);
    case Shape::kString:
      return Value::view("");
    case Shape::kInteger:
      return Value::of(0);
    default:
      return {};
  }
}

std::string_view type_of(Shape shape) {
  switch (shape) {
    case Shape::kStruct:
    case Shape::kMap:
    case Shape::kFieldsV1:
      return "object";
    case Shape::kList:
      return "array";
    case Shape::kInteger:
      return "integer";
    case Shape::kNumber:
      return "number";
    case Shape::kBoolean:
      return "boolean";
    case Shape::kQuantity:
    case Shape::kIntOrString:
    case Shape::kAny:
      return "";  // of several types
    default:
      return "string";
  }
}

std::string_view format_of(const Schema& schema) {
  switch (schema.shape) {
    case Shape::kTime:
    case Shape::kMicroTime:
      return "date-time";
    case Shape::kBytes:
      return "byte";
    default:
      return schema.format;
  }
}

std::string_view name_of(ListType type) {
  return type == ListType::kMap ? "map" : type == ListType::kSet ? "set" : "atomic";
}

Value number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15
             ? Value::of(static_cast<std::int64_t>(value))
             : Value::of(value);
}

void set_text(Value out, std::string_view key, std::string_view text) {
  if (!text.empty()) out.set(key, text);
}

void set_limit(Value out, std::string_view key, std::optional<std::int64_t> limit) {
  if (limit) out.set(key, Value::of(*limit));
}

}  // namespace

Value reference_to(json::Arena& arena, std::string_view name) {
  const Value reference = Value::object(arena, 1);
  reference.set("$ref", fmt::format("#/components/schemas/{}", name));
  return reference;
}

Value SchemaJson::strings(const std::vector<std::string>& texts) {
  const Value list = Value::array(arena_, texts.size());
  for (const std::string& text : texts) list.push_back(Value::view(text));
  return list;
}

bool SchemaJson::is_referred_to(const Schema& schema) const {
  if (style_ == Style::kReference) return !schema.type_name.empty();
  return style_ == Style::kInline && schema.type_name == kObjectMeta;
}

// An API server refuses definitions that say anything about metadata, be it a description.
bool SchemaJson::is_bare_metadata(const Schema& schema) const {
  return style_ == Style::kManifest && schema.type_name == kObjectMeta;
}

Value SchemaJson::reference(const Schema& schema) {
  if (names_.insert(schema.type_name).second) referenced_.push_back(&schema);
  return reference_to(arena_, schema.type_name);
}

// A place in an object: a reference has to be wrapped so that more can be said beside it.
Value SchemaJson::node(const Schema& schema) {
  if (!is_referred_to(schema)) return type(schema);
  const Value out = Value::object(arena_, 4);
  out.array_at("allOf").push_back(reference(schema));
  set_text(out, "x-kubernetes-patch-strategy", schema.patch_strategy);
  return out;
}

Value SchemaJson::element(const Schema& schema) {
  if (style_ != Style::kReference) return node(schema);
  if (!schema.type_name.empty() && has_own_form(schema.shape)) return reference(schema);
  const Value out = node(schema);
  const Value default_value = default_of_element(arena_, schema.shape);
  if (!default_value.is_null()) out.set("default", default_value);
  return out;
}

Value SchemaJson::field(const Field& field) {
  const Value out = node(*field.schema);
  if (is_bare_metadata(*field.schema)) return out;
  set_text(out, "description", field.description);
  // A struct that Go holds by value is never absent.
  const bool never_absent =
      style_ == Style::kReference && field.schema->shape == Shape::kStruct && !field.pointer;
  if (field.default_value) {
    out.set("default", *field.default_value);
  } else if (never_absent) {
    out.object_at("default");
  }
  return out;
}

Value SchemaJson::type(const Schema& schema) {
  const Value out = Value::object(arena_, 8);
  if (!is_bare_metadata(schema)) set_text(out, "description", schema.description);
  set_text(out, "type", type_of(schema.shape));
  if (is_bare_metadata(schema)) return out;
  switch (schema.shape) {
    case Shape::kStruct:
      add_struct(schema, out);
      break;
    case Shape::kMap:
      out.set("additionalProperties", element(*schema.elem));
      break;
    case Shape::kList:
      out.set("items", element(*schema.elem));
      break;
    default:
      add_scalar(schema, out);
      break;
  }
  add_limits(schema, out);
  add_extensions(schema, out);
  return out;
}

void SchemaJson::add_struct(const Schema& schema, Value out) {
  const Value required = Value::array(arena_);
  for (const Field& each : schema.fields) {
    if (each.required) required.push_back(Value::view(each.name));
  }
  const Value properties = Value::object(arena_, schema.fields.size());
  for (const std::uint16_t at : schema.by_name) {
    properties.set(schema.fields[at].name, field(schema.fields[at]));
  }
  if (!required.empty()) out.set("required", required);
  if (!properties.empty()) out.set("properties", properties);
}

void SchemaJson::add_scalar(const Schema& schema, Value out) {
  const auto one_of = [&](std::initializer_list<std::string_view> types) {
    for (const std::string_view each : types) {
      const Value alternative = Value::object(arena_, 1);
      alternative.set("type", each);
      out.array_at("oneOf").push_back(alternative);
    }
  };
  set_text(out, "format", format_of(schema));
  if (!schema.enum_values.empty()) out.set("enum", strings(schema.enum_values));
  if (schema.shape == Shape::kQuantity) one_of({"string", "number"});
  if (schema.shape == Shape::kIntOrString && style_ == Style::kReference) {
    out.set("format", "int-or-string");
    one_of({"integer", "string"});
  } else if (schema.shape == Shape::kIntOrString) {
    out.set("x-kubernetes-int-or-string", Value::of(true));
  }
  if (schema.shape != Shape::kAny) return;
  if (schema.type_name.ends_with(".RawExtension")) out.set("type", "object");
  if (style_ != Style::kReference) out.set("x-kubernetes-preserve-unknown-fields", Value::of(true));
}

void SchemaJson::add_limits(const Schema& schema, Value out) {
  const Limits& limits = schema.limits;
  if (limits.minimum) out.set("minimum", number(*limits.minimum));
  if (limits.maximum) out.set("maximum", number(*limits.maximum));
  set_limit(out, "minLength", limits.min_length);
  set_limit(out, "maxLength", limits.max_length);
  set_limit(out, "minItems", limits.min_items);
  set_limit(out, "maxItems", limits.max_items);
  set_limit(out, "minProperties", limits.min_properties);
  set_limit(out, "maxProperties", limits.max_properties);
  set_text(out, "pattern", limits.pattern);
  if (schema.nullable) out.set("nullable", Value::of(true));
  for (const json::Member& clause : schema.validation.members()) out.set(clause.key, clause.value);
}

void SchemaJson::add_extensions(const Schema& schema, Value out) {
  if (schema.has_list_type) out.set("x-kubernetes-list-type", name_of(schema.list_type));
  if (!schema.list_keys.empty()) out.set("x-kubernetes-list-map-keys", strings(schema.list_keys));
  if (schema.atomic_map) out.set("x-kubernetes-map-type", "atomic");
  if (schema.preserve_unknown) out.set("x-kubernetes-preserve-unknown-fields", Value::of(true));
  if (schema.embedded_resource) out.set("x-kubernetes-embedded-resource", Value::of(true));
  set_text(out, "x-kubernetes-patch-strategy", schema.patch_strategy);
  set_text(out, "x-kubernetes-patch-merge-key", schema.patch_merge_key);
  if (!schema.unions.is_null()) out.set("x-kubernetes-unions", schema.unions);
  for (const CelRule& rule : schema.rules)
    out.array_at("x-kubernetes-validations").push_back(rule.source);
}

}  // namespace muster::api
