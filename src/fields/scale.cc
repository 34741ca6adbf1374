#include "fields/scale.h"

#include "fields/ownership.h"

namespace muster::fields {
namespace {

using json::Value;

constexpr std::string_view kScaleVersion = "autoscaling/v1";

std::vector<PathElement> path_of(ReplicasPath names) {
  std::vector<PathElement> path;
  for (const std::string_view name : names) path.push_back(PathElement::field(name));
  return path;
}

std::vector<PathElement> path_in_scale() {
  return {PathElement::field("spec"), PathElement::field("replicas")};
}

FieldSet set_of(std::span<const PathElement> path) {
  FieldSet set;
  set.insert(path);
  return set;
}

// As upstream, entries that cannot be read count for nothing.
Managers entries_of(json::Arena& arena, const Endpoint& endpoint, Value managed_fields) {
  Managers managers = read_managers(arena, managed_fields).value_or(Managers());
  std::erase_if(managers, [&](const auto& item) {
    return !knows_version(endpoint, item.second.api_version);
  });
  return managers;
}

}  // namespace

Value scale_entries(json::Arena& arena, const api::Resource& resource, ReplicasPath replicas,
                    Value managed_fields) {
  const std::vector<PathElement> path = path_of(replicas);
  Managers owners = entries_of(arena, Endpoint({.resource = &resource}), managed_fields);
  std::erase_if(owners, [&](const auto& item) { return !item.second.fields.has(path); });
  for (auto& [identity, entry] : owners) {
    entry.api_version = kScaleVersion;
    entry.fields = set_of(path_in_scale());
  }
  return write_managers(arena, owners, false);
}

Value parent_entries(json::Arena& arena, const api::Resource& resource, ReplicasPath replicas,
                     Value managed_fields, Value scale_managed_fields) {
  const Endpoint parent({.resource = &resource});
  const std::vector<PathElement> path = path_of(replicas);
  Managers managers = entries_of(arena, parent, managed_fields);
  const Managers owners = read_managers(arena, scale_managed_fields).value_or(Managers());
  for (auto& [identity, entry] : managers) {
    if (!owners.contains(identity)) entry.fields = subtract(entry.fields, set_of(path));
  }
  drop_empty(managers);
  for (const auto& [identity, owner] : owners) {
    if (!owner.fields.has(path_in_scale()) || managers.contains(identity)) continue;
    // Kept under the identity that it has in the Scale: beside an entry of the same manager, even
    // if both are written alike. So does upstream.
    ManagedEntry entry = owner;
    entry.api_version = arena.copy(parent.api_version);
    entry.time = {};
    entry.fields = set_of(path);
    managers.emplace(identity, std::move(entry));
  }
  return write_managers(arena, managers, resource.custom);
}

}  // namespace muster::fields
