// What a pod may be told about itself: fieldRef and resourceFieldRef (pod-lifecycle 4.3). Pure.
#pragma once

#include <string>
#include <string_view>

#include "agent/inputs/environment.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::agent {

// A label or an annotation that is not there is empty; a field that nobody may ask for is an error.
Result<std::string> field_value(json::Value pod, std::string_view path, const PodFacts& facts);

// `container` is whose resources are meant when the reference names none.
Result<std::string> resource_value(json::Value pod, json::Value container, json::Value reference,
                                   const PodFacts& facts);

}  // namespace muster::agent
