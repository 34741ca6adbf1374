// Which fields of a kind a field selector may name, and what they read as (spec: apimachinery 4.4).
#pragma once

#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "api/values/selector.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::api {

// Checks every field against what the resource supports and renames it to the field of the stored
// form (spec.host of a Pod, regarding.* of an events.k8s.io Event). Fails with kBadRequest.
Result<FieldSelector> resolve_field_selector(const Resource& resource,
                                             const FieldSelector& selector);

// The text of a resolved field in a stored object; "" if it is absent.
std::string field_value(const Resource& resource, std::string_view field, json::Value object);

}  // namespace muster::api
