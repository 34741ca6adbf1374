// The stop of one container (pod-lifecycle 2.7): preStop hook, its turn, SIGTERM, SIGKILL.
#pragma once

#include "agent/lifecycle/machine.h"

namespace muster::agent {

struct StopOrder {
  std::int64_t grace_seconds = 0;  // 0: no preStop hook
  std::string message;             // of the event Killing; empty: the usual one
};
void begin_stop(const PodView& pod, PodMemory& memory, std::size_t container,
                const StopOrder& order, Time now, Decision& decision);

// Takes the next step if its time has come.
void go_on_stopping(const PodView& pod, PodMemory& memory, std::size_t container, Time now,
                    Decision& decision);

// Nobody waits longer than this any more; who has been signalled keeps the least grace.
void shorten_stops(PodMemory& memory, Time deadline);

void look_again(Decision& decision, Time when);  // the earliest wish counts

}  // namespace muster::agent
