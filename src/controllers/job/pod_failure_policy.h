// What a podFailurePolicy says of a failed pod (spec: job 2.8). Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

// Of the first rule that matches; nothing if none does, and then the failure counts.
struct Verdict {
  FailureAction action;
  std::string message;  // why the whole Job fails; empty with other actions
};
std::optional<Verdict> judge(const Job& job, const Pod& pod);

// Whether the failure goes into status.failed.
bool counts_as_failure(const Job& job, const Pod& pod);

// Whether the pod is lost to the Job: it failed, or it is going and nobody waits for how.
bool is_failed(const Job& job, const Pod& pod);

}  // namespace muster::controllers::job
