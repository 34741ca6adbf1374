// Indexes that fail on their own: backoffLimitPerIndex (spec: job 2.7). Pure.
#pragma once

#include <map>
#include <span>

#include "api/values/interval_set.h"
#include "base/time.h"
#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

// The failed pod of an index that waits for its replacement, which inherits its counts. Until then
// it keeps its finalizer and is not counted.
using HeldBack = std::map<std::int64_t, const Pod*>;

// Indexes that will not be tried again: those that the status lists, and those whose pod just
// failed once too often.
api::IntervalSet failed_indexes(const Job& job, std::span<const Pod* const> pods);

struct IndexStates {
  const api::IntervalSet& succeeded;
  const api::IntervalSet& failed;
  const api::IntervalSet& active;
};
HeldBack held_back(const Job& job, std::span<const Pod* const> pods, const IndexStates& states);

// How often an index failed, as its next pod is told.
struct IndexFailures {
  std::int32_t counted = 0;
  std::int32_t ignored = 0;
};
IndexFailures failures_after(const Job& job, const Pod* replaced);

// What is left of the delay before the pod's replacement; zero if it is over.
Duration remaining_index_delay(const Pod& replaced, Time now);

}  // namespace muster::controllers::job
