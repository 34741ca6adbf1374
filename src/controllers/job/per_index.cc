#include "controllers/job/per_index.h"

#include <limits>

#include "controllers/job/backoff.h"
#include "controllers/job/pod_failure_policy.h"

namespace muster::controllers::job {
namespace {

bool fails_its_index(const Job& job, const Pod& pod) {
  const auto verdict = judge(job, pod);
  if (verdict && verdict->action == FailureAction::kFailIndex) return true;
  const bool counts = !verdict || verdict->action != FailureAction::kIgnore;
  return counts && pod.index_failures >= job.backoff_limit_per_index.value_or(0);
}

std::int64_t all_failures(const Pod& pod) {
  return std::int64_t{pod.index_failures} + pod.index_ignored_failures;
}

std::int32_t one_more(std::int32_t count) {
  return count == std::numeric_limits<std::int32_t>::max() ? count : count + 1;
}

}  // namespace

api::IntervalSet failed_indexes(const Job& job, std::span<const Pod* const> pods) {
  std::vector<std::int64_t> fresh;
  for (const Pod* pod : pods) {
    if (pod->tracked && job.has_index(pod->index) && is_failed(job, *pod) &&
        fails_its_index(job, *pod))
      fresh.push_back(pod->index);
  }
  return api::IntervalSet::parse(job.failed_indexes, job.completions.value_or(0))
      .joined_with(api::IntervalSet::of(std::move(fresh)));
}

HeldBack held_back(const Job& job, std::span<const Pod* const> pods, const IndexStates& states) {
  HeldBack held;
  for (const Pod* pod : pods) {
    if (!pod->tracked || !job.has_index(pod->index) || !is_failed(job, *pod)) continue;
    const bool settled = states.succeeded.contains(pod->index) ||
                         states.failed.contains(pod->index) || states.active.contains(pod->index);
    if (settled) continue;
    const auto [at, first] = held.try_emplace(pod->index, pod);
    const bool newer =
        all_failures(*at->second) <= all_failures(*pod) && at->second->finished <= pod->finished;
    if (!first && newer) at->second = pod;
  }
  return held;
}

IndexFailures failures_after(const Job& job, const Pod* replaced) {
  if (replaced == nullptr) return {};
  IndexFailures failures{replaced->index_failures, replaced->index_ignored_failures};
  std::int32_t& grows = counts_as_failure(job, *replaced) ? failures.counted : failures.ignored;
  grows = one_more(grows);
  return failures;
}

Duration remaining_index_delay(const Pod& replaced, Time now) {
  return remaining_delay(all_failures(replaced) + 1, replaced.finished, now);
}

}  // namespace muster::controllers::job
