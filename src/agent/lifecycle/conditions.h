// The conditions of a pod (pod-lifecycle 1.2). Pure.
#pragma once

#include <span>

#include "agent/lifecycle/container_status.h"
#include "agent/lifecycle/phase.h"
#include "json/value.h"

namespace muster::agent {

struct ConditionInput {
  std::span<const ContainerStatus> statuses;
  Phase phase = Phase::kPending;
  bool ready_to_start = false;  // its processes have a home and it has an address
  bool resetting = false;       // RestartAllContainers is under way
  json::Value before;           // status.conditions as the API has them
  Time now{};
};
// All of them: those of others first, as they are.
json::Value write_conditions(json::Arena& arena, const PodView& pod, const ConditionInput& input);

}  // namespace muster::agent
