// How long a JobSet that restarts again and again waits before its Jobs are made anew. Pure.
//
// What is known of earlier restarts is a condition of the JobSet: it is stored in the same write
// as the number of restarts, so neither is lost without the other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/views/views.h"
#include "base/time.h"

namespace muster::controllers::jobset {

// Of a JobSet that has restarted and has not ended.
inline constexpr std::string_view kRestartedCondition = "muster.dev/Restarted";
// Of a JobSet: "true" or "false", whatever the feature gate RestartBackoff says.
inline constexpr std::string_view kRestartBackoff = "muster.dev/restart-backoff";

// The latest restart.
struct Restart {
  Time at;
  std::optional<Time> before;  // when the one before it was
  std::chrono::seconds wait{0};

  bool operator==(const Restart&) const = default;
};

// A restart now, after `latest`. From the third within kRestartWindow on, each waits twice as long
// as the one before, until the set has run for kCalm.
Restart restart_after(const std::optional<Restart>& latest, Time now);

// What is left of the wait; zero when it is over.
Duration remaining_wait(const Restart& latest, Time now);

// The condition, and what it says. Nothing if there is none, or if it is not one of ours.
api::Condition condition_of(const Restart& restart);
std::optional<Restart> latest_restart(const api::Conditions& conditions);

bool has_backoff(const api::JobSet& set, bool by_default);

}  // namespace muster::controllers::jobset
