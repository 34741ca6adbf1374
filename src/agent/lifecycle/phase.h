// The phase of a pod from the statuses of its containers (pod-lifecycle 1.1). Pure.
#pragma once

#include <span>
#include <string_view>

#include "agent/lifecycle/container_status.h"
#include "agent/lifecycle/pod_view.h"

namespace muster::agent {

enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

std::string_view phase_text(Phase phase);
inline bool is_terminal(Phase phase) {
  return phase == Phase::kSucceeded || phase == Phase::kFailed;
}

struct PhaseInput {
  std::span<const ContainerStatus> statuses;  // in the order of the view
  bool finished = false;     // the pod is past syncing: nothing is started any more
  bool initialized = false;  // a main container was started
};
Phase phase_of(const PodView& pod, const PhaseInput& input);

}  // namespace muster::agent
