#include "fields/ownership.h"

#include <fmt/format.h>

#include <algorithm>

#include "fields/document_set.h"
#include "fields/merge.h"
#include "fields/reset_fields.h"

namespace muster::fields {
namespace {

using api::Schema;
using json::Value;

const api::Subresource* typed_subresource(const Writer& writer) {
  if (writer.subresource.empty()) return nullptr;
  const api::Subresource* const found = writer.resource->subresource(writer.subresource);
  return found != nullptr && found->schema != nullptr ? found : nullptr;
}

void lose(Managers& managers, std::string_view but, const FieldSet& paths) {
  if (paths.empty()) return;
  for (auto& [identity, entry] : managers) {
    if (identity != but) entry.fields = subtract(std::move(entry.fields), paths);
  }
}

// The rules of 1.6.5, on the merged object. `last` is what the applier owned before, `managers`
// holds what it owns now: of the former only what nobody owns any more goes.
Value prune(json::Arena& arena, const Schema* type, Value merged, const FieldSet& last,
            const Managers& managers) {
  if (last.empty()) return merged;
  const auto paths_of = [&](Value object) {
    return with_parent_fields(type, set_of_document(arena, type, object));
  };
  FieldSet owned;
  for (const auto& [identity, entry] : managers) owned = unite(std::move(owned), entry.fields);
  const FieldSet before = paths_of(merged);
  const FieldSet mine = with_parent_fields(type, last);
  Value pruned = remove(arena, type, merged, mine);
  // What went with an item or a map, but has an owner, comes back …
  const FieldSet kept = unite(paths_of(pruned), with_parent_fields(type, owned));
  pruned = remove(arena, type, merged, subtract(before, kept));
  // … and so does what went with it although nobody had it, the applier included.
  return remove(arena, type, merged, intersect(subtract(before, paths_of(pruned)), mine));
}

std::vector<Conflict> conflicts_with(const Managers& managers, const std::string& but,
                                     const FieldSet& changed) {
  std::vector<Conflict> conflicts;
  for (const auto& [identity, entry] : managers) {
    if (identity == but) continue;
    for_each_path(intersect(entry.fields, changed), [&](std::span<const PathElement> path) {
      conflicts.push_back({identity, describe(entry), to_text(path), {path.begin(), path.end()}});
    });
  }
  return conflicts;
}

}  // namespace

Endpoint::Endpoint(const Writer& writer)
    : subresource(writer.subresource),
      reset(&reset_fields(*writer.resource, writer.subresource)),
      resource(writer.resource) {
  const api::Subresource* const own_type = typed_subresource(writer);
  const api::GroupVersionKind& gvk = own_type != nullptr ? own_type->response_kind : resource->gvk;
  type = own_type != nullptr ? RootType{own_type->schema, false}
                             : RootType{resource->schema, resource->custom};
  api_version = gvk.api_version();
  kind_text = fmt::format("{}/{}, Kind={}", gvk.group, gvk.version, gvk.kind);
}

bool knows_version(const Endpoint& endpoint, std::string_view api_version) {
  if (api_version == endpoint.api_version) return true;
  const api::Resource& resource = *endpoint.resource;
  if (resource.storage != nullptr && resource.storage->gvk.api_version() == api_version)
    return true;
  return api::Registry::builtin().find_kind(api_version, resource.gvk.kind) != nullptr;
}

void reconcile(const Endpoint& endpoint, Managers& managers) {
  std::erase_if(managers, [&](const auto& item) {
    return !knows_version(endpoint, item.second.api_version);
  });
  for (auto& [identity, entry] : managers) collapse_atomics(endpoint.type.schema, entry.fields);
}

Value without_managed_fields(json::Arena& arena, Value object) {
  const Value copy = Value::object(arena, object.size());
  for (const json::Member& member : object.members()) copy.append(member.key, member.value);
  Value* const metadata = copy.find("metadata");
  if (metadata == nullptr || !metadata->has(kManagedFields)) return copy;
  const Value thinner = Value::object(arena, metadata->size());
  for (const json::Member& member : metadata->members()) {
    if (member.key != kManagedFields) thinner.append(member.key, member.value);
  }
  *metadata = thinner;
  return copy;
}

void take_changes(json::Arena& arena, const Endpoint& endpoint, std::string_view manager, Time now,
                  Comparison changes, Managers& managers) {
  reconcile(endpoint, managers);
  changes.exclude(*endpoint.reset);
  FieldSet gained = unite(std::move(changes.modified), std::move(changes.added));
  lose(managers, "", gained);
  lose(managers, "", changes.removed);
  gained = subtract(std::move(gained), server_fields());
  if (!gained.empty()) {
    ManagedEntry taken{.manager = manager,
                       .operation = Operation::kUpdate,
                       .api_version = arena.copy(endpoint.api_version),
                       .subresource = endpoint.subresource};
    ManagedEntry& entry = managers.try_emplace(identity_of(taken), taken).first->second;
    entry.fields = unite(std::move(entry.fields), std::move(gained));
    entry.time = arena.copy(format_time(now));
  }
  drop_empty(managers);
  cap_update_entries(managers);
}

Error to_error(const std::vector<Conflict>& conflicts) {
  Error error{.code = Code::kConflict};
  for (const Conflict& conflict : conflicts) {
    error.causes.push_back(
        {"FieldManagerConflict", "conflict with " + conflict.owner, conflict.path});
  }
  if (conflicts.size() == 1) {
    error.message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                                conflicts[0].owner, conflicts[0].path);
    return error;
  }
  std::string lines;
  std::string_view group;
  for (const Conflict& conflict : conflicts) {
    if (conflict.identity != group) {
      lines += fmt::format("{}conflicts with {}:", lines.empty() ? "" : "\n", conflict.owner);
    }
    group = conflict.identity;
    lines += "\n- " + conflict.path;
  }
  error.message = fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), lines);
  return error;
}

Result<Application> apply_document(json::Arena& arena, const Endpoint& endpoint,
                                   const ManagedEntry& applier, Value live, Value document,
                                   Managers managers, bool force) {
  const Schema* const type = endpoint.type.schema;
  const std::string identity = identity_of(applier);
  reconcile(endpoint, managers);
  const auto [found, is_new] = managers.try_emplace(identity, applier);
  ManagedEntry& entry = found->second;
  if (is_new) entry.time = {};  // it comes with the first change
  const FieldSet last = std::move(entry.fields);
  entry.api_version = applier.api_version;
  entry.fields = subtract_trees(set_of_document(arena, type, document), *endpoint.reset);

  Application result;
  result.object = prune(arena, type, merge(arena, type, live, document), last, managers);
  Result<Comparison> changes = compare_objects(arena, endpoint.type, live, result.object);
  if (!changes) {
    return fail(Code::kUntranslated, "failed to compare objects: " + changes.error().message);
  }
  // Fields that the endpoint resets count here, for upstream looks before it excludes them.
  const bool is_same = changes->empty();
  changes->exclude(*endpoint.reset);
  const FieldSet changed = changes->changed();
  result.conflicts = conflicts_with(managers, identity, changed);
  if (!result.conflicts.empty() && !force) return result;
  lose(managers, identity, changed);
  lose(managers, identity, changes->removed);
  entry.fields = subtract(std::move(entry.fields), server_fields());
  if (is_same) {
    result.object = {};
  } else {
    entry.time = applier.time;
  }
  drop_empty(managers);
  result.conflicts.clear();
  result.managers = std::move(managers);
  return result;
}

}  // namespace muster::fields
