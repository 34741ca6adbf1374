// How long to wait after failures before pods are created again (spec: job 2.6). Pure.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/time.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

// What has been seen of a Job's failures. In memory only: a controller that is started again begins
// with none.
struct BackoffRecord {
  std::int64_t failures = 0;  // since the last success
  std::optional<Time> last_failure;
  // Which of the pods that can still be seen it has taken in: a pass that is repeated, because a
  // write of it failed, does not count them twice.
  std::set<std::string> seen;  // UIDs
};

// The record after these pods have ended.
BackoffRecord updated(const BackoffRecord& before, std::span<const Pod* const> succeeded,
                      std::span<const Pod* const> failed);

// 10 s after the first failure, twice as long after each further one, at most 10 minutes; what is
// left of it. Zero if it is over.
Duration remaining_delay(std::int64_t failures, Time last_failure, Time now);
Duration remaining_delay(const BackoffRecord& record, Time now);

}  // namespace muster::controllers::job
