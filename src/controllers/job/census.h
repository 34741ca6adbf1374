// The pods of a Job, counted (spec: job 2.2, steps 7 and 8). Pure.
#pragma once

#include <optional>
#include <vector>

#include "api/values/interval_set.h"
#include "controllers/job/job_view.h"
#include "controllers/job/per_index.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

struct Census {
  std::vector<const Pod*> pods;  // of an Indexed Job in the order of their indexes
  std::vector<const Pod*> active;
  std::int64_t ready = 0;  // of the active ones
  std::int64_t terminating = 0;

  // Ended, and not yet in the status in any form.
  std::vector<const Pod*> new_succeeded;
  std::vector<const Pod*> new_failed;
  // What the status counts and what it will.
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;

  // Indexed Jobs.
  api::IntervalSet completed;          // that the status lists, as far as they still exist
  api::IntervalSet succeeded_indexes;  // and those whose pod just succeeded
  api::IntervalSet active_indexes;
  // With backoffLimitPerIndex.
  std::optional<api::IntervalSet> failed_indexes;
  HeldBack held_back;
};

Census count(const Job& job, std::vector<const Pod*> pods);

}  // namespace muster::controllers::job
