#include "api/schema/schema_builder.h"

#include <algorithm>
#include <numeric>

#include "base/result.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kSchemaProps =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

std::string_view last_part(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

// io.k8s.api.core.v1.PodPhase is v1.PodPhase in Go's messages.
std::string_view go_name(std::string_view type_name) {
  const std::size_t dot = type_name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return type_name;
  const std::size_t package = type_name.rfind('.', dot - 1);
  return package == std::string_view::npos ? type_name : type_name.substr(package + 1);
}

// Types with a JSON form of their own.
Shape special_shape(std::string_view type_name) {
  const std::string_view name = last_part(type_name);
  if (name == "Quantity") return Shape::kQuantity;
  if (name == "Time") return Shape::kTime;
  if (name == "MicroTime") return Shape::kMicroTime;
  if (name == "FieldsV1") return Shape::kFieldsV1;
  if (name == "IntOrString") return Shape::kIntOrString;
  return Shape::kAny;
}

Shape scalar_shape(std::string_view type, std::string_view format) {
  if (type == "string") return format == "byte" ? Shape::kBytes : Shape::kString;
  if (type == "integer") return Shape::kInteger;
  if (type == "number") return Shape::kNumber;
  if (type == "boolean") return Shape::kBoolean;
  if (type == "object") return Shape::kStruct;
  MUSTER_ASSERT(type == "any", "the data names a type that there is not");
  return Shape::kAny;
}

std::vector<std::string> strings(Value list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

void take(std::optional<std::int64_t>& limit, Value attributes, std::string_view key) {
  if (const Value* const found = attributes.find(key)) limit = found->as_int();
}

void take(std::optional<double>& limit, Value attributes, std::string_view key) {
  if (const Value* const found = attributes.find(key)) limit = found->as_double();
}

bool has_any(Value object, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return object.has(key); });
}

bool limits_anything(Value attributes) {
  return has_any(attributes, {"enum", "minimum", "maximum", "minLength", "maxLength", "pattern",
                              "nullable", "rules", "anyOf", "oneOf", "allOf", "not"});
}

bool differs_from_type(Value field) {
  return has_any(field, {"mapType", "patchStrategy", "nullable", "rules", "preserveUnknownFields",
                         "minProperties", "maxProperties", "embeddedResource"});
}

void index_by_name(Schema& type) {
  type.index = FieldIndex(type.fields);
  type.by_name.resize(type.fields.size());
  std::iota(type.by_name.begin(), type.by_name.end(), std::uint16_t{0});
  std::ranges::sort(type.by_name, {},
                    [&](std::uint16_t at) -> std::string_view { return type.fields[at].name; });
}

}  // namespace

const Schema* SchemaPool::type(std::string_view name) const {
  const auto found = types.find(name);
  return found == types.end() ? nullptr : found->second;
}

const Schema* SchemaPool::kind(std::string_view api_version, std::string_view kind) const {
  std::string key;
  key.reserve(api_version.size() + 1 + kind.size());
  key.append(api_version).append("/").append(kind);
  const auto found = kinds.find(key);
  return found == kinds.end() ? nullptr : found->second;
}

Schema& SchemaBuilder::new_node(Shape shape) {
  Schema& node = pool_.nodes.emplace_back();
  node.shape = shape;
  return node;
}

void SchemaBuilder::declare(Value types) {
  for (const json::Member& member : types.members()) {
    const Value declaration = member.value;
    const Value special = declaration.get("special");
    Schema& node = new_node(special.is_null() ? Shape::kStruct : special_shape(member.key));
    node.type_name = member.key;
    node.proto_message = declaration.get("proto").as_string();
    node.published = declaration.get("openapi").is_null();
    node.kinds = strings(declaration.get("gvk"));
    for (const std::string& kind : node.kinds) pool_.kinds.emplace(kind, &node);
    const bool is_new = pool_.types.emplace(node.type_name, &node).second;
    MUSTER_ASSERT(is_new, "two types of one name");
    declared_.emplace_back(&node, declaration);
  }
}

void SchemaBuilder::describe(Value descriptions) { descriptions_.push_back(descriptions); }

void SchemaBuilder::finish() {
  for (const auto& [node, declaration] : declared_) fill(*node, declaration);
  for (const Value descriptions : descriptions_) {
    for (const json::Member& member : descriptions.members()) {
      const auto found = pool_.types.find(member.key);
      MUSTER_ASSERT(found != pool_.types.end(), "a description of a type that there is not");
      describe_type(*found->second, member.value, descriptions);
    }
  }
  for (const Variant& place : variants_) {
    *place.node = *place.base;
    set_structure(*place.node, place.attributes);
  }
  declared_.clear();
  descriptions_.clear();
  variants_.clear();
}

void SchemaBuilder::fill(Schema& type, Value declaration) {
  if (last_part(type.type_name).starts_with("JSONSchemaPropsOr"))
    type.elem = pool_.type(kSchemaProps);
  for (const Value inlined : declaration.get("inline").items()) {
    type.inlined.push_back({std::string(inlined.get("protoName").as_string()),
                            static_cast<int>(inlined.get("protoNumber").as_int()),
                            std::string(last_part(inlined.get("ref").as_string()))});
  }
  if (const Value unions = declaration.get("unions"); !unions.is_null()) {
    type.unions = json::clone(pool_.arena, unions);
  }
  set_structure(type, declaration);
  set_structure(type, declaration.get("attrs"));
  const Value fields = declaration.get("fields");
  type.fields.reserve(fields.size());
  for (const Value field : fields.items()) type.fields.push_back(make_field(field));
  index_by_name(type);
}

Field SchemaBuilder::make_field(Value declaration) {
  Field field;
  field.name = declaration.get("name").as_string();
  field.schema = place_schema(declaration);
  field.required = declaration.get("required").as_bool();
  field.emit_always = declaration.get("emit").as_string() == "always";
  field.pointer = declaration.get("ptr").as_bool();
  if (const Value* const value = declaration.find("default")) {
    field.default_value = json::clone(pool_.arena, *value);
  }
  field.proto.number = static_cast<int>(declaration.get("protoNumber").as_int());
  field.proto.via = declaration.get("via").as_string();
  const std::string_view container = declaration.get("container").as_string();
  field.proto.wrapped = container.ends_with("array") &&
                        !declaration.get("protoType").as_string().starts_with("repeated ");
  return field;
}

// The schema of a field: its innermost type in its containers, which are named from the outside in.
const Schema* SchemaBuilder::place_schema(Value field) {
  std::string_view containers = field.get("container").as_string();
  if (containers.empty()) {
    const Schema* const base = innermost(field, field);
    return field.has("ref") && differs_from_type(field) ? variant(base, field) : base;
  }
  const bool is_list = containers.starts_with("array");
  const Schema* inner = innermost(field, field.get(is_list ? "items" : "values"));
  if (containers == "map/array") {
    Schema& list = new_node(Shape::kList);
    list.elem = inner;
    inner = &list;
  }
  Schema& outer = new_node(is_list ? Shape::kList : Shape::kMap);
  outer.elem = inner;
  set_structure(outer, field);
  return &outer;
}

const Schema* SchemaBuilder::innermost(Value field, Value element_attributes) {
  if (const std::string_view ref = field.get("ref").as_string(); !ref.empty()) {
    const Schema* const type = pool_.type(ref);
    MUSTER_ASSERT(type != nullptr, "a reference to a type that there is not");
    return type;
  }
  if (element_attributes.get("intOrString").as_bool()) {
    return scalar(Shape::kIntOrString, field, element_attributes);
  }
  const std::string_view type = field.get("type").as_string();
  // The metadata of a custom resource is declared as a bare object; the server treats it as
  // ObjectMeta.
  if (type == "object" && field.get("name").as_string() == "metadata")
    return pool_.type(kObjectMeta);
  if (field.get("preserveUnknownFields").as_bool()) return shared_scalar(Shape::kAny, "", "");
  const Value element_format = element_attributes.get("format");
  const std::string_view format =
      element_format.is_null() ? field.get("format").as_string() : element_format.as_string();
  return scalar(scalar_shape(type, format), field, element_attributes);
}

// A scalar node of its own if the place limits its values, else one that all such places share.
const Schema* SchemaBuilder::scalar(Shape shape, Value declaration, Value attributes) {
  const Value const_type = declaration.get("constType");
  const std::string_view go_type = const_type.is_null() ? declaration.get("goType").as_string()
                                                        : go_name(const_type.as_string());
  const Value element_format = attributes.get("format");
  const std::string_view format =
      element_format.is_null() ? declaration.get("format").as_string() : element_format.as_string();
  const Value enumeration = declaration.get("enum");
  if (enumeration.is_null() && !limits_anything(attributes))
    return shared_scalar(shape, format, go_type);
  Schema& node = new_node(shape);
  node.format = format;
  node.go_type = go_type;
  node.enum_values = strings(enumeration);
  set_limits(node, attributes);
  return &node;
}

const Schema* SchemaBuilder::shared_scalar(Shape shape, std::string_view format,
                                           std::string_view go_type) {
  std::string key = std::to_string(static_cast<int>(shape));
  key.append(" ").append(format).append(" ").append(go_type);
  const Schema*& node = scalars_[key];
  if (node == nullptr) {
    Schema& made = new_node(shape);
    made.format = format;
    made.go_type = go_type;
    node = &made;
  }
  return node;
}

const Schema* SchemaBuilder::variant(const Schema* base, Value attributes) {
  Schema& node = new_node(base->shape);
  variants_.push_back({&node, base, attributes});
  return &node;
}

// What apply and strategic merge must know, and what limits a list, a map or a struct as a whole.
void SchemaBuilder::set_structure(Schema& node, Value attributes) {
  if (attributes.empty()) return;
  if (const std::string_view type = attributes.get("listType").as_string(); !type.empty()) {
    node.has_list_type = true;
    node.list_type = type == "map"   ? ListType::kMap
                     : type == "set" ? ListType::kSet
                                     : ListType::kAtomic;
    node.list_keys = strings(attributes.get("listMapKeys"));
  }
  if (const Value map_type = attributes.get("mapType"); !map_type.is_null()) {
    node.atomic_map = map_type.as_string() == "atomic";
  }
  if (const Value strategy = attributes.get("patchStrategy"); !strategy.is_null()) {
    node.patch_strategy = strategy.as_string();
    node.patch_merge_key = attributes.get("patchMergeKey").as_string();
  }
  if (attributes.get("preserveUnknownFields").as_bool()) node.preserve_unknown = true;
  if (attributes.get("embeddedResource").as_bool()) node.embedded_resource = true;
  take(node.limits.min_items, attributes, "minItems");
  take(node.limits.max_items, attributes, "maxItems");
  take(node.limits.min_properties, attributes, "minProperties");
  take(node.limits.max_properties, attributes, "maxProperties");
  if (attributes.get("nullable").as_bool()) node.nullable = true;
  for (const Value rule : attributes.get("rules").items()) {
    node.rules.push_back({std::string(rule.get("rule").as_string()),
                          std::string(rule.get("message").as_string()),
                          json::clone(pool_.arena, rule)});
  }
}

// What limits a scalar.
void SchemaBuilder::set_limits(Schema& node, Value attributes) {
  set_structure(node, attributes);
  take(node.limits.minimum, attributes, "minimum");
  take(node.limits.maximum, attributes, "maximum");
  take(node.limits.min_length, attributes, "minLength");
  take(node.limits.max_length, attributes, "maxLength");
  if (const std::string_view text = attributes.get("pattern").as_string(); !text.empty()) {
    node.limits.pattern = text;
    std::shared_ptr<const Pattern>& compiled = patterns_[node.limits.pattern];
    if (compiled == nullptr) compiled = compile_pattern(text);
    MUSTER_ASSERT(compiled != nullptr, "a pattern that is no regular expression");
    node.limits.compiled = compiled;
  }
  for (const std::string_view key : {"anyOf", "oneOf", "allOf", "not"}) {
    const Value* const clause = attributes.find(key);
    if (clause == nullptr) continue;
    if (node.validation.is_null()) node.validation = Value::object(pool_.arena);
    node.validation.set(key, json::clone(pool_.arena, *clause));
  }
}

void SchemaBuilder::describe_type(Schema& type, Value texts, Value descriptions) {
  if (const std::string_view model = texts.get("like").as_string(); !model.empty()) {
    const Value* const found = descriptions.find(model);
    MUSTER_ASSERT(found != nullptr, "a description like one that there is not");
    describe_type(type, *found, descriptions);
  }
  for (const json::Member& member : texts.members()) {
    if (member.key == "like") continue;
    if (member.key.empty()) {
      type.description = member.value.as_string();
    } else if (const int at = type.field_position(member.key); at >= 0) {
      type.fields[static_cast<std::size_t>(at)].description = member.value.as_string();
    } else {
      // A model may know fields that a type like it lacks, but nobody describes fields of nothing.
      MUSTER_ASSERT(!descriptions.get(type.type_name).has(member.key), "a description of no field");
    }
  }
}

}  // namespace muster::api
