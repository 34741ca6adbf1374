#include "fields/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "fields/last_applied.h"
#include "fields/ownership.h"
#include "fields/validate.h"

namespace muster::fields {
namespace {

using json::Value;

constexpr std::string_view kBeforeFirstApply = "before-first-apply";

Value managed_fields_of(Value object) { return object.get({"metadata", kManagedFields}); }

// [] and [{}] ask for no entries at all.
bool is_reset(Value managed_fields) {
  if (!managed_fields.is_array()) return false;
  return managed_fields.empty() ||
         (managed_fields.size() == 1 && managed_fields.item(0).is_object() &&
          managed_fields.item(0).empty());
}

// The entries that an Update starts from: those of the live object, unless the request brings its
// own.
Managers entries_before(json::Arena& arena, const Endpoint& endpoint, Value live, Value updated) {
  const auto read = [&](Value object) { return read_managers(arena, managed_fields_of(object)); };
  if (endpoint.subresource.empty()) {
    if (is_reset(managed_fields_of(updated))) return {};
    if (Result<Managers> sent = read(updated); sent && !sent->empty()) return *std::move(sent);
  }
  return read(live).value_or(Managers());
}

void store(json::Arena& arena, const Endpoint& endpoint, const Managers& managers, Value object) {
  const Value metadata = object.object_at("metadata");
  const Value list = write_managers(arena, managers, endpoint.type.custom);
  if (list.is_null()) {
    metadata.erase(kManagedFields);
    return;
  }
  metadata.set(kManagedFields, list);
  if (endpoint.type.custom) metadata.sort_keys();
}

std::unexpected<Error> misfit(std::string_view what, const Endpoint& endpoint, Value object,
                              const Error& error) {
  const Value metadata = object.get("metadata");
  return fail(Code::kUntranslated,
              fmt::format("failed to create typed {} object ({}/{}; {}): {}", what,
                          metadata.get("namespace").as_string(), metadata.get("name").as_string(),
                          endpoint.kind_text, error.message));
}

// An object whose fields have no owner at all gets one for everything that it has, before the first
// applier comes.
void own_what_is_there(json::Arena& arena, const Endpoint& endpoint, Time now, Value live,
                       Managers& managers) {
  take_changes(
      arena, endpoint,
      {.manager = kBeforeFirstApply, .now = now, .live = Value::object(arena), .updated = live},
      managers);
}

// Applies, and lets kubectl take by force what it had applied on the client.
Result<Application> apply_with_mercy(json::Arena& arena, const Endpoint& endpoint,
                                     const ManagedEntry& applier, Value live, Value config,
                                     const Managers& managers, bool force) {
  MUSTER_TRY(Application result,
             apply_document(arena, endpoint, applier, live, config, managers, force));
  if (result.conflicts.empty() || applier.manager != kKubectl) return result;
  const FieldSet allowed = applied_on_client(arena, endpoint, live);
  std::erase_if(result.conflicts,
                [&](const Conflict& conflict) { return allowed.has(conflict.elements); });
  if (!result.conflicts.empty()) return result;
  return apply_document(arena, endpoint, applier, live, config, managers, true);
}

// Equal but for the times of entries.
bool equal_entries(Value a, Value b) {
  const auto count = [](Value entry) { return entry.size() - (entry.has("time") ? 1 : 0); };
  if (count(a) != count(b)) return false;
  return std::ranges::all_of(a.members(), [&](const json::Member& member) {
    const Value* const other = b.find(member.key);
    return member.key == "time" || (other != nullptr && json::equal(member.value, *other));
  });
}

bool equal_but_managed_fields(Value a, Value b) {
  const auto equal_members = [](Value left, Value right, std::string_view except) {
    return left.size() == right.size() &&
           std::ranges::all_of(left.members(), [&](const json::Member& member) {
             const Value* const other = right.find(member.key);
             return other != nullptr && (member.key == except || json::equal(member.value, *other));
           });
  };
  return equal_members(a, b, "metadata") &&
         equal_members(a.get("metadata"), b.get("metadata"), kManagedFields);
}

}  // namespace

void track_update(json::Arena& arena, const Writer& writer, Value live, Value updated) {
  const Endpoint endpoint(writer);
  Managers managers = entries_before(arena, endpoint, live, updated);
  const Value metadata = updated.object_at("metadata");
  metadata.erase(kManagedFields);
  // An object that has no entries was reset: nobody is tracked until somebody applies.
  if (managers.empty() && !live.is_null()) return;
  take_changes(arena, endpoint,
               {.manager = writer.manager,
                .now = writer.now,
                .live = without_managed_fields(arena, live),
                .updated = updated},
               managers);
  store(arena, endpoint, managers, updated);
}

Result<Applied> apply(json::Arena& arena, const Writer& writer, Value live, Value config,
                      bool force) {
  const Endpoint endpoint(writer);
  const Value base = without_managed_fields(arena, live);
  if (const Status fits = check_document(arena, endpoint.type.schema, config, Duplicates::kRefused);
      !fits) {
    return misfit("patch", endpoint, config, fits.error());
  }
  if (const Status fits = check_document(arena, endpoint.type.schema, base, Duplicates::kAllowed);
      !fits) {
    return misfit("live", endpoint, base, fits.error());
  }
  Result<Managers> managers = read_managers(arena, managed_fields_of(live));
  if (!managers) {
    return fail(Code::kUntranslated,
                "failed to decode managed fields: " + managers.error().message);
  }
  if (managers->empty() && !live.is_null())
    own_what_is_there(arena, endpoint, writer.now, base, *managers);

  const ManagedEntry applier{.manager = writer.manager,
                             .operation = Operation::kApply,
                             .api_version = arena.copy(endpoint.api_version),
                             .subresource = writer.subresource,
                             .time = arena.copy(format_time(writer.now))};
  MUSTER_TRY(const Application done,
             apply_with_mercy(arena, endpoint, applier, base, config, *managers, force));
  if (!done.conflicts.empty()) return std::unexpected(to_error(done.conflicts));
  Applied applied{.object = json::clone(arena, done.object.is_null() ? base : done.object),
                  .changed = !done.object.is_null()};
  if (applier.manager == kKubectl && renew_last_applied(arena, applied.object, config))
    applied.changed = true;
  store(arena, endpoint, done.managers, applied.object);
  return applied;
}

void keep_times_if_unchanged(Value live, Value updated) {
  const Value before = managed_fields_of(live);
  const Value after = managed_fields_of(updated);
  if (!before.is_array() || before.size() != after.size()) return;
  if (!std::ranges::equal(before.items(), after.items(), equal_entries)) return;
  if (!equal_but_managed_fields(live, updated)) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (const Value* const time = before.item(i).find("time")) {
      after.item(i).set("time", time->as_string());
    } else {
      after.item(i).erase("time");
    }
  }
}

Status check_managed_fields(Value managed_fields) {
  json::Arena scratch;
  MUSTER_CHECK(read_managers(scratch, managed_fields));
  return {};
}

}  // namespace muster::fields
