// What a failed Job means for its JobSet (spec: jobset 3.8).
#pragma once

#include "base/result.h"
#include "controllers/jobset/status_draft.h"
#include "controllers/jobset/tally.h"

namespace muster::controllers::jobset {

// The child that failed first; null pointer if none failed. Of those that failed in the same second
// the first in the list.
const Child* first_failed(const Children& children);

// Of the failed Jobs those that the rule is about.
Children those_meant(const api::FailurePolicyRule& rule, const Children& failed);

struct FailureVerdict {
  api::FailureAction action;
  const Child* job;                              // the one that is blamed
  const api::FailurePolicyRule* rule = nullptr;  // null pointer: no rule matched
};
// `failed` must not be empty.
FailureVerdict judge_failure(const api::FailurePolicy& policy, const Children& failed);

// Only counts and says; the next pass, which sees the new numbers, deletes. Fails if the policy
// asks for what a gate has switched off.
Status apply_failure_policy(const api::JobSet& set, const Children& failed, const Gates& gates,
                            StatusDraft& draft);

// For good: nothing is created any more.
void fail_job_set(std::string_view reason, std::string_view message, StatusDraft& draft);

}  // namespace muster::controllers::jobset
