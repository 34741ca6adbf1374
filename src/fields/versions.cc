#include "fields/versions.h"

#include "api/versions/convert.h"
#include "fields/ownership.h"

namespace muster::fields {
namespace {

using json::Value;

// Null pointer: not served.
const api::Resource* resource_in(const Endpoint& endpoint, std::string_view api_version) {
  const api::Resource* const own = endpoint.resource;
  if (own->gvk.api_version() == api_version) return own;
  if (own->storage == nullptr) return nullptr;
  if (own->storage->gvk.api_version() == api_version) return own->storage;
  const api::Resource* const found = api::Registry::builtin().find_kind(api_version, own->gvk.kind);
  return found != nullptr && found->storage == own->storage ? found : nullptr;
}

}  // namespace

bool knows_version(const Endpoint& endpoint, std::string_view api_version) {
  return api_version == endpoint.api_version || resource_in(endpoint, api_version) != nullptr;
}

const api::Schema* type_in(const Endpoint& endpoint, std::string_view api_version) {
  // A subresource with a type of its own has a version of its own.
  if (api_version == endpoint.api_version) return endpoint.type.schema;
  return resource_in(endpoint, api_version)->schema;
}

Value in_version(json::Arena& arena, const Endpoint& endpoint, Value object, VersionChange change,
                 Value live) {
  if (change.from == change.to) return object;
  return api::convert(arena, object, *resource_in(endpoint, change.from),
                      *resource_in(endpoint, change.to), live);
}

Changes::Changes(json::Arena& arena, const Endpoint& endpoint, Value before, Value after,
                 Comparison own)
    : arena_(arena), endpoint_(endpoint), before_(before), after_(after) {
  own.exclude(*endpoint.reset);
  by_version_.emplace(endpoint.api_version, std::move(own));
}

const Comparison& Changes::in(std::string_view api_version) {
  const auto [found, is_new] = by_version_.try_emplace(api_version);
  if (!is_new) return found->second;
  const auto converted = [&](Value object) {
    return in_version(arena_, endpoint_, object, {endpoint_.api_version, api_version});
  };
  const RootType type{type_in(endpoint_, api_version), endpoint_.type.custom};
  Result<Comparison> changes = compare_objects(arena_, type, converted(before_), converted(after_));
  if (changes) {
    found->second = *std::move(changes);
    found->second.exclude(*endpoint_.reset);
  }
  return found->second;
}

}  // namespace muster::fields
