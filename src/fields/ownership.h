// The rules of ownership on decoded entries: what an Update takes, what an Apply prunes and
// conflicts with (spec: apimachinery 1.5 and 1.6). managed_fields.h has the entry points for
// requests.
#pragma once

#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "fields/compare.h"
#include "fields/managed_fields.h"
#include "fields/managers.h"
#include "fields/versions.h"

namespace muster::fields {

// What a request writes to, in the version that it speaks. For a subresource with a type of its own
// (scale) that is the type of the subresource.
struct Endpoint {
  RootType type;
  std::string api_version;
  std::string kind_text;  // apps/v1, Kind=Deployment
  std::string_view subresource;
  const FieldSet* reset = nullptr;
  const api::Resource* resource = nullptr;

  explicit Endpoint(const Writer& writer);
};

// Drops entries of unknown versions and brings sets into the form that the schema asks for.
void reconcile(const Endpoint& endpoint, Managers& managers);

// A copy of the object without its managedFields that shares the rest with it. Of null: an empty
// object.
json::Value without_managed_fields(json::Arena& arena, json::Value object);

// An Update by `manager` made `updated` of `live`, both in the version of the endpoint. Others lose
// what changed, the manager gains what is new. Nothing happens where the two cannot be compared.
struct Update {
  std::string_view manager;
  Time now{};
  json::Value live;
  json::Value updated;
};
void take_changes(json::Arena& arena, const Endpoint& endpoint, const Update& update,
                  Managers& managers);

struct Conflict {
  std::string identity;  // of the other entry
  std::string owner;     // the entry as messages name it
  std::string path;
  std::vector<PathElement> elements;
};
Error to_error(const std::vector<Conflict>& conflicts);

struct Application {
  json::Value object;  // null: as the live one
  Managers managers;
  std::vector<Conflict> conflicts;  // if there are any, the rest means nothing
};
// One attempt to apply a checked document. `live` is without managedFields, `managers` are its
// decoded entries, `applier` is the entry to be, with the time of now. Fails with kUntranslated if
// the outcome does not fit the schema.
Result<Application> apply_document(json::Arena& arena, const Endpoint& endpoint,
                                   const ManagedEntry& applier, json::Value live,
                                   json::Value document, Managers managers, bool force);

}  // namespace muster::fields
