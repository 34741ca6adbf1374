// Field ownership and server-side apply (spec: apimachinery 1): who set which field, pure on trees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/registry.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::fields {

// The request on whose behalf fields change.
struct Writer {
  std::string_view manager;
  std::string_view subresource;             // empty for the object itself
  const api::Resource* resource = nullptr;  // in the version of the request
  Time now{};
};

// POST, PUT and the patches other than apply (1.5). `live` is null on create. `updated` is the new object, decoded and
// defaulted, before mutating admission; its metadata.managedFields are what the client sent (1.4). On return they are
// what to store. Never fails: if tracking is impossible the managedFields are removed.
void track_update(json::Arena& arena, const Writer& writer, json::Value live, json::Value updated);

struct Applied {
  json::Value object;      // merged, with its managedFields; not yet defaulted
  bool changed = true;     // false: equals the live object, but perhaps for managedFields
};
// PATCH application/apply-patch+yaml (1.6). `live` is null when the object does not exist. `config` is the document as sent,
// known to be of the endpoint's kind. Fails with kConflict (1.8) or kUntranslated (document against schema).
Result<Applied> apply(json::Arena& arena, const Writer& writer, json::Value live, json::Value config, bool force);

// The no-op rule (1.9): if `updated` differs from `live` in managedFields' times only, puts the old times back.
void keep_times_if_unchanged(json::Value live, json::Value updated);

// The manager's name of a request (1.4): the parameter, else the User-Agent up to '/', else "unknown".
Result<std::string> manager_name(std::string_view parameter, std::string_view user_agent);

}  // namespace muster::fields
