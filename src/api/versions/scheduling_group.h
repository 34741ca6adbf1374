// What templates of a Workload and PodGroups have in common between the versions of
// scheduling.k8s.io (spec: gang 1.3 to 1.5). Internal to api/versions.
#pragma once

#include "json/value.h"

namespace muster::api {

// disruptionMode: "Pod" and "PodGroup" in v1alpha2 are {"single": {}} and {"all": {}} as stored.
// Anything else is dropped: admission refuses it before it is stored.
void disruption_mode_to_storage(json::Value group);
void disruption_mode_from_storage(json::Value group);

}  // namespace muster::api
