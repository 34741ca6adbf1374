// The quality-of-service class of a pod (spec: pod-lifecycle 1.4).
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::admission {

std::string_view qos_class(json::Value pod_spec);  // Guaranteed, Burstable, BestEffort

}  // namespace muster::admission
