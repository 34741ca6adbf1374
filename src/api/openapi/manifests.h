// CustomResourceDefinitions of the custom resources that muster serves, for installation on an API
// server that does not have them. What upstream's definitions say, and what we add: descriptions,
// fields, columns.
#pragma once

#include <vector>

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::api {

// One object per custom resource, all its versions in it; keys in alphabetical order.
std::vector<json::Value> custom_resource_definitions(json::Arena& arena, const Registry& registry);

}  // namespace muster::api
