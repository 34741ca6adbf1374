// The entries of an object as its Scale shows them, and back (spec: apimachinery 1.4).
//
// A write to /scale goes through a Scale of its own: take the entries of the object with
// scale_entries() into the live Scale, let track_update() or apply() work on that one with
// subresource "scale", and store what parent_entries() makes of its entries in the object.
#pragma once

#include <span>
#include <string_view>

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::fields {

// Where the number of replicas lies in the object, by field names: {"spec", "replicas"} mostly.
using ReplicasPath = std::span<const std::string_view>;

// The owners of the replicas, as owners of spec.replicas in autoscaling/v1. Null if there are none.
json::Value scale_entries(json::Arena& arena, const api::Resource& resource, ReplicasPath replicas,
                          json::Value managed_fields);

// The entries of the object after those of its Scale became `scale_managed_fields`: owners that
// lost the replicas lose them here, new owners get an entry without time. Null if there are none.
json::Value parent_entries(json::Arena& arena, const api::Resource& resource, ReplicasPath replicas,
                           json::Value managed_fields, json::Value scale_managed_fields);

}  // namespace muster::fields
