// How far each replicated job has come: the numbers of status.replicatedJobsStatus (spec: jobset
// 3.4), and what follows from them.
#pragma once

#include <vector>

#include "controllers/jobset/buckets.h"

namespace muster::controllers::jobset {

struct Tally {
  const api::ReplicatedJob* replicated_job;
  api::ReplicatedJobStatus status;
  std::int32_t present = 0;  // Jobs of this attempt that there are, in whatever state

  // At least ready once: what already ended counts, or a short Job would hold the others up.
  std::int32_t started_jobs() const { return status.ready + status.succeeded + status.failed; }
  bool is_started() const { return started_jobs() == replicated_job->replicas; }
  bool is_complete() const { return status.succeeded == replicated_job->replicas; }
};
using Tallies = std::vector<Tally>;  // one per replicated job, in the order of the spec

Tallies tally(const api::JobSet& set, const Buckets& buckets, const Gates& gates);

const Tally* find_tally(const Tallies& tallies, std::string_view replicated_job);
// Every Job of the set is ready or has succeeded, as the status has it.
bool all_ready(const api::JobSet& set, const api::JobSetStatus& status);
// The entries as they are stored: by name, descending, as clients have always seen them.
std::vector<api::ReplicatedJobStatus> stored_statuses(const Tallies& tallies);

}  // namespace muster::controllers::jobset
