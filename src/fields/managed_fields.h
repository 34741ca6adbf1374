// Field ownership and server-side apply (spec: apimachinery 1): who set which field, pure on trees.
// docs/apply.md explains the rules.
//
// Trees that are handed in and the arena live as long as the results. `live` is never changed, and
// in the version of the request like the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "api/values/field_error.h"
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

// POST, PUT and the patches other than apply (1.5). `live` is null on create. `updated` is the new
// object, decoded and defaulted, before mutating admission; its metadata.managedFields are what the
// client sent (1.4): an empty list and no list are different things. On return they are what to
// store. Never fails: where ownership cannot be told, the entries stay as they were. Of /scale both
// objects are Scales, with entries made by scale_entries().
void track_update(json::Arena& arena, const Writer& writer, json::Value live, json::Value updated);

struct Applied {
  json::Value object;   // merged, with its managedFields; not yet defaulted; shares nothing with
                        // live and config
  bool changed = true;  // false: equals the live object, but perhaps for managedFields
};
// PATCH application/apply-patch+yaml (1.6). `live` is null when the object does not exist. `config`
// is the document as sent, known to be of the endpoint's kind and without managedFields. Fails with
// kConflict (1.8) or kUntranslated (document against schema).
Result<Applied> apply(json::Arena& arena, const Writer& writer, json::Value live,
                      json::Value config, bool force);

// The no-op rule (1.9): if `updated` differs from `live` in managedFields' times only, puts the old
// times back.
void keep_times_if_unchanged(json::Value live, json::Value updated);

// Whether a list of entries can be read. Fails with kBadRequest: after admission, a list that a
// webhook broke is replaced by the one before, and the message goes into a warning (1.9).
Status check_managed_fields(json::Value managed_fields);

// What is wrong with the parameter fieldManager of a request (1.4): too long, or not printable.
void validate_manager(std::string_view parameter, api::FieldErrors& errors);
// The manager's name of a request (1.4): the parameter, else the User-Agent up to '/', else
// "unknown".
std::string manager_name(std::string_view parameter, std::string_view user_agent);

}  // namespace muster::fields
