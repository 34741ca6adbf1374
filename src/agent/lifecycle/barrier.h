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

// When the first of the present runs of main containers was executed; nothing: none was.
std::optional<Time> first_release(const PodView& pod, const PodMemory& memory);

// A main container that was executed proves that the barrier has ended well, whatever this pod has
// seen of it: all pods of a gang on a node wait at one gate, which the first of them opens.
void settle_barrier(const PodView& pod, PodMemory& memory, Time released);

}  // namespace muster::agent
