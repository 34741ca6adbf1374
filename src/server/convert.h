// Between the version of a request and the version in which the kind is stored (docs/conformance.md
// says what is not converted).
#pragma once

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::server {

// Both change the tree in place; objects of the storage version stay as they are.
void to_storage(json::Value object, const api::Resource& resource);
void from_storage(json::Value object, const api::Resource& resource);

}  // namespace muster::server
