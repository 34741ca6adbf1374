#include "api/openapi/discovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "json/write.h"

namespace muster::api {
namespace {

using json::Arena;
using json::Value;

Value strings(Arena& arena, const std::vector<std::string>& texts) {
  const Value list = Value::array(arena, texts.size());
  for (const std::string& text : texts) list.push_back(Value::string(arena, text));
  return list;
}

Value sorted_strings(Arena& arena, std::vector<std::string> texts) {
  std::ranges::sort(texts);
  return strings(arena, texts);
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

// The resources of a group's version, by name.
std::vector<const Resource*> resources_of(const Registry& registry, std::string_view group,
                                          std::string_view version) {
  std::vector<const Resource*> resources;
  for (const Resource* resource : registry.resources()) {
    if (resource->gvk.group == group && resource->gvk.version == version)
      resources.push_back(resource);
  }
  std::ranges::sort(resources, {}, &Resource::plural);
  return resources;
}

std::vector<Subresource> subresources_of(const Resource& resource) {
  auto subresources = resource.subresources;
  std::ranges::sort(subresources, {}, &Subresource::name);
  return subresources;
}

bool same_group_version(const GroupVersionKind& a, const GroupVersionKind& b) {
  return a.group == b.group && a.version == b.version;
}

// --- aggregated ---

// Empty group and version mean: those of the list. Custom resources say them all the same.
Value response_kind(Arena& arena, const Resource& resource, const GroupVersionKind& kind) {
  const bool implied = same_group_version(resource.gvk, kind) && !resource.custom;
  const Value value = Value::object(arena, 3);
  value.set("group", implied ? "" : kind.group);
  value.set("version", implied ? "" : kind.version);
  value.set("kind", kind.kind);
  return value;
}

Value aggregated_resource(Arena& arena, const Resource& resource) {
  const Value value = Value::object(arena, 8);
  value.set("resource", resource.plural);
  value.set("responseKind", response_kind(arena, resource, resource.gvk));
  value.set("scope", resource.namespaced ? "Namespaced" : "Cluster");
  value.set("singularResource", resource.singular);
  value.set("verbs", sorted_strings(arena, resource.verbs));
  if (!resource.short_names.empty()) value.set("shortNames", strings(arena, resource.short_names));
  if (!resource.categories.empty()) value.set("categories", strings(arena, resource.categories));
  for (const Subresource& subresource : subresources_of(resource)) {
    const Value entry = Value::object(arena, 3);
    entry.set("subresource", subresource.name);
    entry.set("responseKind", response_kind(arena, resource, subresource.response_kind));
    entry.set("verbs", sorted_strings(arena, subresource.verbs));
    value.array_at("subresources").push_back(entry);
  }
  return value;
}

Value aggregated_group(Arena& arena, const Registry& registry, const GroupVersions& group) {
  const Value value = Value::object(arena, 2);
  value.object_at("metadata");
  if (!group.group.empty()) value.get("metadata").set("name", group.group);
  for (const std::string& version : group.versions) {
    const Value entry = Value::object(arena, 3);
    entry.set("version", version);
    for (const Resource* resource : resources_of(registry, group.group, version)) {
      entry.array_at("resources").push_back(aggregated_resource(arena, *resource));
    }
    entry.set("freshness", "Current");
    value.array_at("versions").push_back(entry);
  }
  return value;
}

std::string aggregated_list(const Registry& registry, bool core) {
  Arena arena;
  const Value list = Value::object(arena, 4);
  list.set("kind", "APIGroupDiscoveryList");
  list.set("apiVersion", "apidiscovery.k8s.io/v2");
  list.object_at("metadata");
  const Value items = list.array_at("items");
  for (const GroupVersions& group : registry.groups()) {
    if (group.group.empty() == core) items.push_back(aggregated_group(arena, registry, group));
  }
  return json::write(list);
}

// --- legacy ---

void describe_group(Arena& arena, const GroupVersions& group, Value out) {
  const auto version_entry = [&](const std::string& version) {
    const Value entry = Value::object(arena, 2);
    entry.set("groupVersion", group_version(group.group, version));
    entry.set("version", version);
    return entry;
  };
  out.set("name", group.group);
  const Value versions = out.array_at("versions");
  for (const std::string& version : group.versions) versions.push_back(version_entry(version));
  out.set("preferredVersion", version_entry(group.versions.front()));
}

std::string group_list(const Registry& registry) {
  Arena arena;
  const Value list = Value::object(arena, 3);
  list.set("kind", "APIGroupList");
  list.set("apiVersion", "v1");
  for (const GroupVersions& group : registry.groups()) {
    if (group.group.empty()) continue;
    const Value entry = Value::object(arena, 3);
    describe_group(arena, group, entry);
    list.array_at("groups").push_back(entry);
  }
  return json::write(list);
}

std::string single_group(const GroupVersions& group) {
  Arena arena;
  const Value value = Value::object(arena, 5);
  value.set("kind", "APIGroup");
  value.set("apiVersion", "v1");
  describe_group(arena, group, value);
  return json::write(value);
}

Value legacy_resource(Arena& arena, const Resource& resource) {
  const Value value = Value::object(arena, 8);
  value.set("name", resource.plural);
  value.set("singularName", resource.singular);
  value.set("namespaced", Value::of(resource.namespaced));
  value.set("kind", resource.gvk.kind);
  value.set("verbs", sorted_strings(arena, resource.verbs));
  if (!resource.short_names.empty()) value.set("shortNames", strings(arena, resource.short_names));
  if (!resource.categories.empty()) value.set("categories", strings(arena, resource.categories));
  if (!resource.storage_version_hash.empty())
    value.set("storageVersionHash", resource.storage_version_hash);
  return value;
}

Value legacy_subresource(Arena& arena, const Resource& resource, const Subresource& subresource) {
  const Value value = Value::object(arena, 7);
  value.set("name", fmt::format("{}/{}", resource.plural, subresource.name));
  value.set("singularName", "");
  value.set("namespaced", Value::of(resource.namespaced));
  if (!same_group_version(resource.gvk, subresource.response_kind)) {
    value.set("group", subresource.response_kind.group);
    value.set("version", subresource.response_kind.version);
  }
  value.set("kind", subresource.response_kind.kind);
  value.set("verbs", sorted_strings(arena, subresource.verbs));
  return value;
}

std::string resource_list(const Registry& registry, std::string_view group,
                          std::string_view version) {
  Arena arena;
  const Value list = Value::object(arena, 4);
  list.set("kind", "APIResourceList");
  if (!group.empty()) list.set("apiVersion", "v1");  // upstream leaves it out in core
  list.set("groupVersion", group_version(group, version));
  const Value entries = list.array_at("resources");
  for (const Resource* resource : resources_of(registry, group, version)) {
    entries.push_back(legacy_resource(arena, *resource));
    for (const Subresource& subresource : subresources_of(*resource)) {
      entries.push_back(legacy_subresource(arena, *resource, subresource));
    }
  }
  return json::write(list);
}

}  // namespace

Document make_document(std::string body) {
  std::string etag = "\"";
  for (const char byte : digest(DigestKind::kSha512, body))
    fmt::format_to(std::back_inserter(etag), "{:02X}", static_cast<unsigned char>(byte));
  etag += '"';
  return {std::move(body), std::move(etag)};
}

Discovery::Discovery(const Registry& registry) : registry_(registry) {
  aggregated_.emplace("/api", make_document(aggregated_list(registry, true)));
  aggregated_.emplace("/apis", make_document(aggregated_list(registry, false)));
  legacy_.emplace("/apis", make_document(group_list(registry)));
  for (const GroupVersions& group : registry.groups()) {
    const std::string root = group.group.empty() ? "/api" : "/apis/" + group.group;
    if (!group.group.empty()) legacy_.emplace(root, make_document(single_group(group)));
    for (const std::string& version : group.versions) {
      legacy_.emplace(fmt::format("{}/{}", root, version),
                      make_document(resource_list(registry, group.group, version)));
    }
  }
}

std::string Discovery::api_versions(std::string_view server_address) const {
  Arena arena;
  const Value value = Value::object(arena, 3);
  value.set("kind", "APIVersions");
  for (const GroupVersions& group : registry_.groups()) {
    if (group.group.empty()) value.set("versions", strings(arena, group.versions));
  }
  const Value address = Value::object(arena, 2);
  address.set("clientCIDR", "0.0.0.0/0");
  address.set("serverAddress", server_address);
  value.array_at("serverAddressByClientCIDRs").push_back(address);
  return json::write(value);
}

std::vector<std::string> Discovery::paths() const {
  std::vector<std::string> paths{"/api"};
  for (const auto& [path, document] : legacy_) paths.push_back(path);
  return paths;
}

const Document* Discovery::find(const Documents& documents, std::string_view path) {
  const auto found = documents.find(path);
  return found == documents.end() ? nullptr : &found->second;
}

}  // namespace muster::api
