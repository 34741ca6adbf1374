// The init container that the agent plays itself (see Barrier in pod_view.h).
#pragma once

#include "agent/lifecycle/machine.h"

namespace muster::agent {

// It runs from now on.
void play_barrier(const PodView& pod, PodMemory& memory, std::size_t container, Time now);

// Ends it if it is open, late, or in vain because a main container cannot be held. Whether it
// has succeeded.
bool watch_barrier(const PodView& pod, PodMemory& memory, std::size_t container, Time now,
                   Decision& decision);

void end_barrier(Run& run, int code, std::string message, Time now);

}  // namespace muster::agent
