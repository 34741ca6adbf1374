// The environment that distributed programs expect (RANK, WORLD_SIZE, LOCAL_RANK, NODE_RANK,
// MASTER_ADDR, MASTER_PORT), for JobSets that ask for it (docs/barrier.md).
//
// A rank is the number of a pod among all pods that have one, in the order of the replicated jobs,
// their Jobs and their indexes. No Job knows the index of a pod before it is there, so the first
// rank of a Job stands in an annotation, and pod admission adds the index
// (admission/jobset/jobset_pod.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/views/views.h"
#include "json/value.h"

namespace muster::controllers::jobset {

struct Ranks {
  std::int64_t first = 0;    // of the entry's first Job
  std::int64_t per_job = 0;  // indexes of each of its Jobs
  std::int64_t world = 0;    // of all
};
// Nothing if the entry's pods have no ranks.
std::optional<Ranks> ranks_of(const api::JobSet& set, const api::ReplicatedJob& entry);

// To every container that is there, before its own variables and never over them: so these may
// refer to ours. `spec` is the Job's.
void add_rank_environment(json::Value spec, const api::JobSet& set, const Ranks& ranks,
                          std::string_view master_port);

}  // namespace muster::controllers::jobset
