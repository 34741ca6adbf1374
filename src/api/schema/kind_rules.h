// The switches by which upstream's kinds differ from each other, one row per kind (spec:
// apimachinery 3.3, 3.4, 3.5, 4.4). A kind without a row has none of them.
#pragma once

#include "api/schema/registry.h"

namespace muster::api {

// Sets the switches and selectable fields of a built-in kind; those of a custom resource that hold
// for all.
void set_kind_rules(Resource& resource);

// The kind, as "group/plural", under which the objects of this one are stored: itself, but for
// events.
std::string storage_name(const Resource& resource);

}  // namespace muster::api
