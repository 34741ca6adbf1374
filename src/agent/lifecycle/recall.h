// What an agent that starts again knows about a pod: what the runtime found of it, and what its
// status says of the rest (pod-lifecycle 9). Pure.
#pragma once

#include <span>

#include "agent/lifecycle/memory.h"
#include "json/value.h"

namespace muster::agent {

struct FoundRun {
  std::string container;
  Run run;
};

// `found` may have runs of containers that the pod does not have: they are ignored.
PodMemory recall(const PodView& view, json::Value status, std::span<const FoundRun> found,
                 Time now);

}  // namespace muster::agent
