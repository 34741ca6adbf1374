#include "fields/ownership.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

// Others have nothing any more of what changed. `but` is the identity of an entry that is left out.
void lose(Managers& managers, std::string_view but, Changes& changes) {
  for (auto& [identity, entry] : managers) {
    if (identity == but) continue;
    const Comparison& changed = changes.in(entry.api_version);
    for (const FieldSet* const paths : {&changed.modified, &changed.added, &changed.removed})
      if (!paths->empty()) entry.fields = subtract(std::move(entry.fields), *paths);
  }
}

// What an applier owned before, in the version of that time.
struct Last {
  std::string_view api_version;
  FieldSet fields;
};

// The rules of 1.6.5 on the merged object, which is in the version of the endpoint like the result.
class Pruning {
 public:
  Pruning(json::Arena& arena, const Endpoint& endpoint, Value merged, const Last& last)
      : arena_(arena),
        endpoint_(endpoint),
        merged_(merged),
        last_(last),
        last_type_(type_in(endpoint, last.api_version)),
        mine_(with_parent_fields(last_type_, last.fields)) {}

  // `managers` holds what the applier owns now: of what it owned before only what nobody owns any
  // more goes.
  Value result(const Managers& managers) const {
    if (last_.fields.empty()) return merged_;
    const std::string_view version = last_.api_version;
    const Value whole = merged_in(version);
    const Value pruned = kept_owned(remove(arena_, last_type_, whole, mine_), managers);
    // … and so does what went with it although nobody had it, the applier included.
    const FieldSet gone = subtract(paths_of(whole, version), paths_of(pruned, version));
    const Value left = remove(arena_, last_type_, whole, intersect(gone, mine_));
    return in_version(arena_, endpoint_, left, {version, endpoint_.api_version}, merged_);
  }

 private:
  // What went with an item or a map, but has an owner, comes back … `pruned` and the result are in
  // the version of the last time; each owner is asked in its own.
  Value kept_owned(Value pruned, const Managers& managers) const {
    std::map<std::string_view, FieldSet> owned;
    for (const auto& [identity, entry] : managers) {
      FieldSet& of_version = owned[entry.api_version];
      of_version = unite(std::move(of_version), entry.fields);
    }
    for (const auto& [version, fields] : owned) {
      const Schema* const type = type_in(endpoint_, version);
      const Value whole = merged_in(version);
      const Value left = in_version(arena_, endpoint_, pruned, {last_.api_version, version}, whole);
      const FieldSet kept = unite(paths_of(left, version), with_parent_fields(type, fields));
      const FieldSet gone = subtract(paths_of(whole, version), kept);
      pruned = in_version(arena_, endpoint_, remove(arena_, type, whole, gone),
                          {version, last_.api_version}, pruned);
    }
    return pruned;
  }

  Value merged_in(std::string_view version) const {
    return in_version(arena_, endpoint_, merged_, {endpoint_.api_version, version});
  }

  FieldSet paths_of(Value object, std::string_view version) const {
    const Schema* const type = type_in(endpoint_, version);
    return with_parent_fields(type, set_of_document(arena_, type, object));
  }

  json::Arena& arena_;
  const Endpoint& endpoint_;
  const Value merged_;
  const Last& last_;
  const Schema* const last_type_;
  const FieldSet mine_;
};

std::vector<Conflict> conflicts_with(const Managers& managers, const std::string& but,
                                     Changes& changes) {
  std::vector<Conflict> conflicts;
  for (const auto& [identity, entry] : managers) {
    if (identity == but) continue;
    const FieldSet changed = changes.in(entry.api_version).changed();
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

void reconcile(const Endpoint& endpoint, Managers& managers) {
  std::erase_if(managers, [&](const auto& item) {
    return !knows_version(endpoint, item.second.api_version);
  });
  for (auto& [identity, entry] : managers)
    collapse_atomics(type_in(endpoint, entry.api_version), entry.fields);
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

void take_changes(json::Arena& arena, const Endpoint& endpoint, const Update& update,
                  Managers& managers) {
  Result<Comparison> compared = compare_objects(arena, endpoint.type, update.live, update.updated);
  if (!compared) return;
  reconcile(endpoint, managers);
  Changes changes(arena, endpoint, update.live, update.updated, *std::move(compared));
  lose(managers, "", changes);
  FieldSet gained = subtract(changes.in(endpoint.api_version).changed(), server_fields());
  if (!gained.empty()) {
    ManagedEntry taken{.manager = update.manager,
                       .operation = Operation::kUpdate,
                       .api_version = arena.copy(endpoint.api_version),
                       .subresource = endpoint.subresource};
    ManagedEntry& entry = managers.try_emplace(identity_of(taken), taken).first->second;
    entry.fields = unite(std::move(entry.fields), std::move(gained));
    entry.time = arena.copy(format_time(update.now));
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
  const Last last{entry.api_version, std::move(entry.fields)};
  entry.api_version = applier.api_version;
  entry.fields = subtract_trees(set_of_document(arena, type, document), *endpoint.reset);

  Application result;
  result.object =
      Pruning(arena, endpoint, merge(arena, type, live, document), last).result(managers);
  Result<Comparison> compared = compare_objects(arena, endpoint.type, live, result.object);
  if (!compared) {
    return fail(Code::kUntranslated, "failed to compare objects: " + compared.error().message);
  }
  // Fields that the endpoint resets count here, for upstream looks before it excludes them.
  const bool is_same = compared->empty();
  Changes changes(arena, endpoint, live, result.object, *std::move(compared));
  result.conflicts = conflicts_with(managers, identity, changes);
  if (!result.conflicts.empty() && !force) return result;
  lose(managers, identity, changes);
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
