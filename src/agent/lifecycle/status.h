// The whole status of a pod, and what of it has to be sent. Pure.
#pragma once

#include "agent/lifecycle/memory.h"
#include "json/value.h"

namespace muster::agent {

// `pod` is the object as the API has it: phases that are over stay over, times of conditions that
// did not change stay, conditions of others stay.
json::Value write_status(json::Arena& arena, const PodView& view, const PodMemory& memory,
                         json::Value pod, Time now);

// Of a pod that this node does not take (pod-lifecycle 8.2).
json::Value write_rejection(json::Arena& arena, const PodView& view, const PodMemory& memory,
                            json::Value pod);

// A strategic merge patch of the pod that turns the status `before` into `after` and fails on a
// later pod of the same name. Null if there is nothing to tell.
json::Value status_patch(json::Arena& arena, const PodView& view, json::Value before,
                         json::Value after);

}  // namespace muster::agent
