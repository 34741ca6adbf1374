#include "api/openapi/openapi_v2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::api {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kV3References = "#/components/schemas/";
constexpr std::string_view kV2References = "#/definitions/";

// What means the same in both versions.
constexpr std::array<std::string_view, 16> kSchemaWords{
    "description", "type",      "format",        "enum",         "required", "minimum",
    "maximum",     "minLength", "maxLength",     "pattern",      "minItems", "maxItems",
    "uniqueItems", "title",     "minProperties", "maxProperties"};

bool is_extension(std::string_view key) { return key.starts_with("x-"); }

class Converter {
 public:
  explicit Converter(json::Arena& arena) : arena_(arena) {}

  Value document(Value v3) const;

 private:
  Value schema(Value v3) const;
  Value schemas(Value v3) const;
  void set_reference(Value v3, Value out) const;
  Value path_item(Value v3) const;
  Value operation(Value v3) const;
  Value parameters(Value v3, Value body) const;
  Value parameter(Value v3) const;
  Value body_parameter(Value v3) const;
  Value responses(Value v3) const;
  Value types_of(Value content) const;

  json::Arena& arena_;
};

// A v3 place wraps its reference to say more beside it; in v2 both stand side by side.
void Converter::set_reference(Value v3, Value out) const {
  const Value wrapped = v3.get("allOf").size() == 1 ? v3.get("allOf").item(0) : v3;
  std::string_view reference = wrapped.get("$ref").as_string();
  if (!reference.starts_with(kV3References)) return;
  reference.remove_prefix(kV3References.size());
  out.set("$ref", fmt::format("{}{}", kV2References, reference));
}

Value Converter::schema(Value v3) const {
  const bool nullable = v3.get("nullable").as_bool();
  const bool open = nullable || v3.get("x-kubernetes-preserve-unknown-fields").as_bool();
  const Value out = Value::object(arena_, v3.size());
  set_reference(v3, out);
  for (const auto& [key, value] : v3.members()) {
    const bool same =
        is_extension(key) || std::ranges::find(kSchemaWords, key) != kSchemaWords.end();
    if (same && !(nullable && key == "type")) out.set(key, value);
    if (key == "additionalProperties") out.set(key, schema(value));
    if (key == "items" && !open) out.set(key, schema(value));
    if (key == "properties" && !open) out.set(key, schemas(value));
  }
  // Quantities and IntOrStrings, which are the only alternatives among built-in types.
  if (v3.has("oneOf") && !v3.has("type")) out.set("type", "string");
  return out;
}

Value Converter::schemas(Value v3) const {
  const Value out = Value::object(arena_, v3.size());
  for (const auto& [name, each] : v3.members()) out.append(name, schema(each));
  return out;
}

Value Converter::parameter(Value v3) const {
  const Value out = Value::object(arena_, 6);
  for (const auto& [key, value] : v3.members()) {
    if (key != "schema") out.append(key, value);
  }
  for (const auto& [key, value] : v3.get("schema").members()) out.append(key, value);
  return out;
}

Value Converter::body_parameter(Value v3) const {
  const Value out = Value::object(arena_, 4);
  out.set("name", "body");
  out.set("in", "body");
  if (v3.get("required").as_bool()) out.set("required", Value::of(true));
  out.set("schema", schema(v3.get("content").members()[0].value.get("schema")));
  return out;
}

Value Converter::parameters(Value v3, Value body) const {
  const Value out = Value::array(arena_, v3.size() + 1);
  if (!body.is_null()) out.push_back(body_parameter(body));
  for (const Value each : v3.items()) out.push_back(parameter(each));
  return out;
}

Value Converter::types_of(Value content) const {
  const Value out = Value::array(arena_, content.size());
  for (const Member& type : content.members()) out.push_back(Value::view(type.key));
  return out;
}

Value Converter::responses(Value v3) const {
  const Value out = Value::object(arena_, v3.size());
  for (const auto& [code, answer] : v3.members()) {
    const Value each = out.object_at(code);
    each.set("description", answer.get("description"));
    const Value content = answer.get("content");
    if (!content.empty()) each.set("schema", schema(content.members()[0].value.get("schema")));
  }
  return out;
}

Value Converter::operation(Value v3) const {
  const Value out = Value::object(arena_, 8);
  const Value body = v3.get("requestBody");
  for (const auto& [key, value] : v3.members()) {
    if (is_extension(key) || key == "tags" || key == "operationId") out.append(key, value);
  }
  const Value consumes = types_of(body.get("content"));
  if (consumes.empty()) consumes.push_back(Value::view("*/*"));
  out.set("consumes", consumes);
  out.set("produces", types_of(v3.get({"responses", "200", "content"})));
  out.array_at("schemes").push_back(Value::view("https"));
  if (!body.is_null() || v3.has("parameters"))
    out.set("parameters", parameters(v3.get("parameters"), body));
  out.set("responses", responses(v3.get("responses")));
  return out;
}

Value Converter::path_item(Value v3) const {
  const Value out = Value::object(arena_, v3.size());
  for (const auto& [key, value] : v3.members()) {
    out.append(key, key == "parameters" ? parameters(value, Value()) : operation(value));
  }
  return out;
}

Value Converter::document(Value v3) const {
  const Value out = Value::object(arena_, 6);
  out.set("swagger", "2.0");
  out.set("info", v3.get("info"));
  const Value paths = out.object_at("paths");
  for (const auto& [path, item] : v3.get("paths").members()) paths.append(path, path_item(item));
  out.set("definitions", schemas(v3.get({"components", "schemas"})));
  out.set("securityDefinitions", v3.get({"components", "securitySchemes"}));
  const Value required = Value::object(arena_);
  for (const Member& scheme : v3.get({"components", "securitySchemes"}).members())
    required.array_at(scheme.key);
  out.array_at("security").push_back(required);
  return out;
}

}  // namespace

Value to_openapi_v2(Value v3) { return Converter(v3.arena()).document(v3); }

}  // namespace muster::api
