// Whether an ended container is run again, and after which wait (pod-lifecycle 2.4, 2.5). Pure.
#pragma once

#include <optional>

#include "agent/lifecycle/memory.h"
#include "agent/lifecycle/pod_view.h"

namespace muster::agent {

enum class Restart : std::uint8_t { kNo, kYes, kAllContainers };

Restart restart_after(const PodView& pod, const ContainerView& container, int exit_code);

// Whether the policy alone would run it again; what rules say shows when it has ended.
bool policy_restarts(const PodView& pod, const ContainerView& container, int exit_code);

struct BackoffOptions {
  Duration base = std::chrono::seconds(10);
  Duration cap = std::chrono::seconds(300);
  Duration reset_after = std::chrono::seconds(600);  // a run that lasted so long starts afresh
};

// When it may be run again; nothing: at once.
std::optional<Time> backoff_until(const Backoff& backoff, Time finished, Time now,
                                  const BackoffOptions& options);
// It is being run again now.
void note_restart(Backoff& backoff, Time finished, Time now, const BackoffOptions& options);

}  // namespace muster::agent
