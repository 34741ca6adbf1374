#include "controllers/job/manage_pods.h"

#include <algorithm>

#include "controllers/job/names.h"
#include "controllers/job/removal.h"

namespace muster::controllers::job {
namespace {

std::int64_t active_of(const Census& census) {
  return static_cast<std::int64_t>(census.active.size());
}

std::int64_t wanted_active(const Job& job, const Census& census) {
  if (job.completions)
    return std::clamp(*job.completions - census.succeeded, std::int64_t{0}, job.parallelism);
  // A work queue: the first success says that it is empty; what still runs may end.
  return census.succeeded > 0 ? active_of(census) : job.parallelism;
}

std::vector<const Pod*> surplus(const Job& job, const Census& census) {
  const std::int64_t too_many =
      std::max(std::int64_t{0}, active_of(census) - wanted_active(job, census));
  const bool all_usable = !job.is_indexed() || census.active_indexes.size() == active_of(census);
  if (too_many == 0 && all_usable) return {};
  auto removed = choose_removed(job, census.active, static_cast<std::size_t>(too_many));
  removed.resize(std::min(removed.size(), kMaxCreatedOrRemoved));
  return removed;
}

std::vector<std::int64_t> missing_indexes(const Job& job, const Census& census, std::size_t count) {
  api::IntervalSet taken = census.succeeded_indexes.joined_with(census.active_indexes);
  if (census.failed_indexes) taken = taken.joined_with(*census.failed_indexes);
  if (job.replaces_only_failed) {
    std::vector<std::int64_t> terminating;
    for (const Pod* pod : census.pods) {
      if (pod->is_terminating() && job.has_index(pod->index)) terminating.push_back(pod->index);
    }
    taken = taken.joined_with(api::IntervalSet::of(std::move(terminating)));
  }
  return taken.first_absent(count, job.completions.value_or(0));
}

// Each index waits for itself. One that waits keeps its place: a higher index does not overtake it.
void add_indexes(const Job& job, const Census& census, std::size_t count, Time now, PodWork& work) {
  for (const std::int64_t index : missing_indexes(job, census, count)) {
    const auto held = census.held_back.find(index);
    const Pod* replaced = held == census.held_back.end() ? nullptr : held->second;
    const Duration delay =
        replaced == nullptr ? Duration::zero() : remaining_index_delay(*replaced, now);
    if (delay > Duration::zero()) {
      work.wait = std::min(work.wait.value_or(delay), delay);
    } else {
      work.born.push_back({.index = index, .replaced = replaced});
    }
  }
}

}  // namespace

PodWork manage_pods(const Job& job, const Census& census, const BackoffRecord& backoff,
                    const CreationRoom& births, Time now) {
  PodWork work;
  work.removed = job.suspend ? census.active : surplus(job, census);
  if (job.suspend || !work.removed.empty()) return work;
  std::int64_t missing = wanted_active(job, census) - active_of(census);
  if (job.replaces_only_failed) missing -= census.terminating;
  if (missing <= 0) return work;
  if (!job.backoff_limit_per_index) {
    const Duration delay = remaining_delay(backoff, now);
    if (delay > Duration::zero()) {
      work.wait = delay;
      return work;
    }
  }
  const std::size_t most = std::min(births.room, kMaxCreatedOrRemoved);
  const auto count = std::min(static_cast<std::size_t>(missing), most);
  // While there is room for what one pass creates, the next pass goes on.
  work.held_back = static_cast<std::size_t>(missing) > births.room && most == births.room;
  if (job.is_indexed()) {
    add_indexes(job, census, count, now, work);
  } else {
    work.born.resize(count);
  }
  return work;
}

}  // namespace muster::controllers::job
