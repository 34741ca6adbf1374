// An ownerReference as JSON.
#pragma once

#include "api/views/meta.h"
#include "json/value.h"

namespace muster::api {

json::Value write_owner_reference(json::Arena& arena, const OwnerReference& owner);

}  // namespace muster::api
