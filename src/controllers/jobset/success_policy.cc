#include "controllers/jobset/success_policy.h"

#include <algorithm>

namespace muster::controllers::jobset {
namespace {

bool is_target(const api::SuccessPolicy& policy, const Tally& tally) {
  const auto& targets = policy.target_replicated_jobs;
  return targets.empty() || std::ranges::find(targets, tally.replicated_job->name) != targets.end();
}

}  // namespace

bool success_policy_met(const api::SuccessPolicy& policy, const Tallies& tallies) {
  std::int64_t succeeded = 0, replicas = 0;
  for (const Tally& tally : tallies) {
    if (!is_target(policy, tally)) continue;
    succeeded += tally.status.succeeded;
    replicas += tally.replicated_job->replicas;
  }
  return succeeded >= (policy.any ? 1 : replicas);
}

void complete_job_set(StatusDraft& draft) {
  constexpr std::string_view kMessage = "jobset completed successfully";
  draft.set_condition({.type = "Completed", .reason = "AllJobsCompleted", .message = kMessage});
  draft.set_condition({.type = "RestartingJobSet",
                       .is_true = false,
                       .reason = "JobSetCompleted",
                       .message = kMessage});
  draft.edit().terminal_state = "Completed";
}

}  // namespace muster::controllers::jobset
