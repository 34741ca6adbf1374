// The writes that plans are made of, in short.
#pragma once

#include <string_view>

#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers {

enum class Propagation : std::uint8_t { kBackground, kForeground, kOrphan };

// The object says its own namespace and name; `name` stays empty where the server generates it.
client::Operation create(const api::Resource& resource, json::Value object);
// A merge patch. With a resource version it succeeds only on that very version.
client::Operation patch(const api::Resource& resource, const ObjectRef& target, json::Value change,
                        std::string_view subresource = {});
// Only the object with the target's uid, never a later one of the same name.
client::Operation remove(const api::Resource& resource, const ObjectRef& target,
                         Propagation propagation);
// Only the very version that the target names.
client::Operation remove_version(const api::Resource& resource, const ObjectRef& target,
                                 Propagation propagation);
// As it is, without any time of grace.
client::Operation remove_at_once(const api::Resource& resource, const ObjectRef& target);

// What turns `before` into `after` as a merge patch: members that differ, null for those that are
// gone. Null if there is nothing to do.
json::Value difference(json::Arena& arena, json::Value before, json::Value after);

// A status write: what differs, bound to the version that it was computed from. Nothing if nothing
// differs.
std::optional<client::Operation> patch_status(const api::Resource& resource,
                                              const ObjectRef& target, json::Value before,
                                              json::Value after);

// {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true}
json::Value controller_reference(json::Arena& arena, const ObjectRef& owner);

}  // namespace muster::controllers
