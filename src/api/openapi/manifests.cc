#include "api/openapi/manifests.h"

#include <algorithm>
#include <map>

#include "api/schema/schema_json.h"
#include "api/tables/columns.h"
#include "json/sort_keys.h"

namespace muster::api {
namespace {

using json::Arena;
using json::Value;
using Versions = std::vector<const Resource*>;

Value strings(Arena& arena, const std::vector<std::string>& texts) {
  const Value list = Value::array(arena, texts.size());
  for (const std::string& text : texts) list.push_back(Value::string(arena, text));
  return list;
}

Value names_of(Arena& arena, const Resource& resource) {
  const Value names = Value::object(arena, 6);
  names.set("kind", resource.gvk.kind);
  names.set("listKind", resource.list_kind);
  names.set("plural", resource.plural);
  names.set("singular", resource.singular);
  if (!resource.short_names.empty()) names.set("shortNames", strings(arena, resource.short_names));
  if (!resource.categories.empty()) names.set("categories", strings(arena, resource.categories));
  return names;
}

// Every table begins with the name, and without a definition it ends with the age: neither is
// declared.
std::vector<Column> declared_columns(const Resource& resource) {
  std::vector<Column> columns(resource.columns.begin() + 1, resource.columns.end());
  if (columns.size() == 1 && columns[0].json_path == ".metadata.creationTimestamp") columns.clear();
  const auto& added = added_columns(resource);
  columns.insert(columns.end(), added.begin(), added.end());
  return columns;
}

void add_columns(const Resource& resource, Value version) {
  for (const Column& column : declared_columns(resource)) {
    const Value entry = Value::object(version.arena(), 5);
    entry.set("name", column.name);
    entry.set("type", column.type);
    entry.set("jsonPath", column.json_path);
    if (!column.format.empty()) entry.set("format", column.format);
    if (!column.description.empty()) entry.set("description", column.description);
    if (column.priority != 0) entry.set("priority", Value::of(column.priority));
    version.array_at("additionalPrinterColumns").push_back(entry);
  }
}

Value version_of(Arena& arena, const Resource& resource) {
  const Value version = Value::object(arena, 8);
  version.set("name", resource.gvk.version);
  version.set("served", Value::of(true));
  version.set("storage", Value::of(resource.storage == &resource));
  if (!resource.deprecation_warning.empty()) {
    version.set("deprecated", Value::of(true));
    version.set("deprecationWarning", resource.deprecation_warning);
  }
  add_columns(resource, version);
  for (const std::string& field : resource.selectable_fields) {
    const Value entry = Value::object(arena, 1);
    entry.set("jsonPath", "." + field);
    version.array_at("selectableFields").push_back(entry);
  }
  if (resource.has_status()) version.object_at("subresources").object_at("status");
  SchemaJson schema_json(arena, SchemaJson::Style::kManifest);
  version.object_at("schema").set("openAPIV3Schema", schema_json.type(*resource.schema));
  return version;
}

Value definition_of(Arena& arena, Versions versions) {
  std::ranges::sort(versions, {}, [](const Resource* resource) { return resource->gvk.version; });
  const Resource& any = *versions.front();
  const Value definition = Value::object(arena, 4);
  definition.set("apiVersion", "apiextensions.k8s.io/v1");
  definition.set("kind", "CustomResourceDefinition");
  definition.object_at("metadata").set("name", any.qualified());
  const Value spec = definition.object_at("spec");
  spec.set("group", any.gvk.group);
  spec.set("names", names_of(arena, any));
  spec.set("scope", any.namespaced ? "Namespaced" : "Cluster");
  for (const Resource* version : versions)
    spec.array_at("versions").push_back(version_of(arena, *version));
  json::sort_all_keys(definition);
  return definition;
}

}  // namespace

std::vector<Value> custom_resource_definitions(Arena& arena, const Registry& registry) {
  std::map<std::string, Versions> by_name;
  for (const Resource* resource : registry.resources()) {
    if (resource->custom) by_name[resource->qualified()].push_back(resource);
  }
  std::vector<Value> definitions;
  definitions.reserve(by_name.size());
  for (auto& [name, versions] : by_name)
    definitions.push_back(definition_of(arena, std::move(versions)));
  return definitions;
}

}  // namespace muster::api
