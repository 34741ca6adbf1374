// The fields that an endpoint does not let its clients write, and therefore nobody owns through it
// (spec: apimachinery 1.3).
#pragma once

#include <string_view>

#include "api/schema/registry.h"
#include "fields/field_set.h"

namespace muster::fields {

// Owned by nobody, with all that lies below. `subresource` is empty for the object itself.
const FieldSet& reset_fields(const api::Resource& resource, std::string_view subresource);

// What the server manages in every object: apiVersion, kind, metadata.name, metadata.uid … Not
// owned as such; metadata.labels is.
const FieldSet& server_fields();

}  // namespace muster::fields
