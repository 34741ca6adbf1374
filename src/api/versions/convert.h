// One kind that is served in several versions and stored in one of them (docs/kinds.md, "Versions
// of a kind"). Pure functions on trees; objects of the storage version stay as they are.
#pragma once

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::api {

// Both change the tree in place. `live` is the object as it is stored until now, null for a new
// one: what the version of `resource` has no words for is taken from there, so that a client of an
// old version does not erase what it cannot see.
void to_storage(json::Value object, const Resource& resource, json::Value live = {});
void from_storage(json::Value object, const Resource& resource);

// A stored tree as a client of the version of `resource` sees it, in canonical form. Uses up
// `stored`.
json::Value read_as(json::Arena& arena, json::Value stored, const Resource& resource);

// A copy of the object in another version of its kind, in canonical form. `live` as above, but in
// the version `to`.
json::Value convert(json::Arena& arena, json::Value object, const Resource& from,
                    const Resource& to, json::Value live = {});

}  // namespace muster::api
