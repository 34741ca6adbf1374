// Who may start, and who waits for whom: dependsOn (KEP-672; spec: jobset 3.11) and the startup
// order (KEP-104; spec: jobset 3.12).
#pragma once

#include <optional>
#include <string>

#include "controllers/jobset/tally.h"

namespace muster::controllers::jobset {

// Gates the creation and the resumption of Jobs, nothing else: what runs, runs on.
bool dependencies_reached(const api::ReplicatedJob& replicated_job, const Tallies& tallies);

// Its replicated jobs start one after the other, not all at once.
bool is_sequenced(const api::JobSet& set);

// The condition api::kWaitingCondition. Nothing while nobody waits for another replicated job; a
// suspended set waits for its owner, which another condition says.
std::optional<api::Condition> waiting(const api::JobSet& set, const Tallies& tallies);

// Told when a replicated job of a sequenced set starts.
inline constexpr std::string_view kStageStarted = "StageStarted";
std::string stage_started(const api::ReplicatedJob& replicated_job);

}  // namespace muster::controllers::jobset
