// Who owns what: metadata.managedFields in decoded form (spec: apimachinery 1.1, 1.4 and 1.9).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "fields/field_set.h"

namespace muster::fields {

inline constexpr std::string_view kManagedFields = "managedFields";

enum class Operation : std::uint8_t { kApply, kUpdate };

// One entry. Its texts are views of the tree that it was read from, of the arena, or of literals.
struct ManagedEntry {
  std::string_view manager;
  Operation operation = Operation::kUpdate;
  std::string_view api_version;
  std::string_view subresource;
  std::string_view time;  // RFC 3339 in seconds; empty: none
  FieldSet fields;
};

// What makes two entries the same: the JSON of the entry without fields and time, and without
// apiVersion if it is an Apply. Upstream sorts conflicts and ages by this text, so we keep it.
std::string identity_of(const ManagedEntry& entry);

// "upd" with subresource "status" using v1: how conflicts name an entry.
std::string describe(const ManagedEntry& entry);

using Managers = std::map<std::string, ManagedEntry, std::less<>>;  // by identity

// Of two entries with one identity the later one wins. Fails with kBadRequest if an entry is not
// understood, in the words that a warning to clients quotes.
Result<Managers> read_managers(json::Arena& arena, json::Value managed_fields);

// The list as it is stored: sorted by operation, time, manager, version, subresource. Custom
// resources have their keys in alphabetical order. Null if there are no entries.
json::Value write_managers(json::Arena& arena, const Managers& managers, bool custom);

void drop_empty(Managers& managers);

// Keeps at most kMaxUpdateEntries Update entries: the oldest ones of a version are joined to one of
// the manager "ancient-changes".
inline constexpr std::size_t kMaxUpdateEntries = 10;
void cap_update_entries(Managers& managers);

}  // namespace muster::fields
