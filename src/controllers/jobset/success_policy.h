// When a JobSet is through (spec: jobset 3.7).
#pragma once

#include "controllers/jobset/status_draft.h"
#include "controllers/jobset/tally.h"

namespace muster::controllers::jobset {

// To be asked only if some Job has succeeded: a JobSet without Jobs never completes. Targets
// without replicas ask for no success of their own: then any one will do.
bool success_policy_met(const api::SuccessPolicy& policy, const Tallies& tallies);

void complete_job_set(StatusDraft& draft);

}  // namespace muster::controllers::jobset
