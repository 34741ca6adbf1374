#include "controllers/job/census.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "controllers/job/pod_failure_policy.h"

namespace muster::controllers::job {
namespace {

using api::PodPhase;
using Uids = std::set<std::string_view>;

Uids uids(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

class Counter {
 public:
  Counter(const Job& job, Census& census)
      : job_(job),
        census_(census),
        uncounted_succeeded_(uids(job.uncounted_succeeded)),
        uncounted_failed_(uids(job.uncounted_failed)) {}

  void add(const Pod& pod) {
    if (pod.is_active()) {
      census_.active.push_back(&pod);
      if (pod.ready) ++census_.ready;
    } else if (pod.is_terminating()) {
      ++census_.terminating;
    }
    if (!pod.tracked || (job_.is_indexed() && !job_.has_index(pod.index))) return;
    if (pod.phase == PodPhase::kSucceeded && !uncounted_succeeded_.contains(pod.ref.uid)) {
      census_.new_succeeded.push_back(&pod);
    } else if (is_failed(job_, pod) && !uncounted_failed_.contains(pod.ref.uid)) {
      census_.new_failed.push_back(&pod);
    }
  }

  void add_up() {
    const auto counted = std::ranges::count_if(
        census_.new_failed, [&](const Pod* pod) { return counts_as_failure(job_, *pod); });
    census_.failed = job_.failed + counted + static_cast<std::int64_t>(uncounted_failed_.size());
    census_.succeeded = job_.succeeded + static_cast<std::int64_t>(census_.new_succeeded.size()) +
                        static_cast<std::int64_t>(uncounted_succeeded_.size());
  }

 private:
  const Job& job_;
  Census& census_;
  Uids uncounted_succeeded_;
  Uids uncounted_failed_;
};

void count_indexes(const Job& job, Census& census) {
  std::vector<std::int64_t> succeeded, active;
  for (const Pod* pod : census.pods) {
    if (!job.has_index(pod->index)) continue;
    if (pod->is_active()) active.push_back(pod->index);
    if (pod->tracked && pod->phase == PodPhase::kSucceeded) succeeded.push_back(pod->index);
  }
  census.completed = api::IntervalSet::parse(job.completed_indexes, job.completions.value_or(0));
  census.succeeded_indexes =
      census.completed.joined_with(api::IntervalSet::of(std::move(succeeded)));
  census.active_indexes = api::IntervalSet::of(std::move(active));
  census.succeeded = census.succeeded_indexes.size();
  if (!job.backoff_limit_per_index) return;
  census.failed_indexes = failed_indexes(job, census.pods);
  census.held_back = held_back(job, census.pods,
                               {.succeeded = census.succeeded_indexes,
                                .failed = *census.failed_indexes,
                                .active = census.active_indexes});
}

}  // namespace

Census count(const Job& job, std::vector<const Pod*> pods) {
  Census census;
  if (job.is_indexed()) std::ranges::stable_sort(pods, {}, &Pod::index);
  census.pods = std::move(pods);
  Counter counter(job, census);
  for (const Pod* pod : census.pods) counter.add(*pod);
  counter.add_up();
  if (job.is_indexed()) count_indexes(job, census);
  return census;
}

}  // namespace muster::controllers::job
