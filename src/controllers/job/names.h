// Names that the Job controller, its pods and its users agree on (spec: job 0).
#pragma once

#include <cstdint>
#include <string_view>

#include "api/views/job_names.h"

namespace muster::controllers::job {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
using api::kCompletionIndex;
inline constexpr std::string_view kIndexFailureCount =
    "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailureCount =
    "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";
// spec.managedBy of a Job that this controller looks after; so does none.
inline constexpr std::string_view kManager = "kubernetes.io/job-controller";

// Of one pass, so that a large Job neither bloats its status nor holds up small ones.
inline constexpr std::size_t kMaxUncounted = 500;
inline constexpr std::size_t kMaxCreatedOrRemoved = 500;

}  // namespace muster::controllers::job
