// How many Jobs a set may create now (JobLimits).
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "controllers/jobset/child.h"
#include "controllers/runtime/job_limits.h"

namespace muster::controllers::jobset {

// A Job that has been created ahead of what runs.
inline bool is_waiting(const Child& job) {
  return job.end == Child::End::kNone && !job.terminating && job.ready == 0 && job.succeeded == 0;
}

struct CreationLimit {
  std::size_t room = std::numeric_limits<std::size_t>::max();  // for Jobs yet to be created
  std::size_t limit = 0;                                       // that leaves no more room
  bool of_all = false;  // others hold the room: nothing of this set tells when there is some
};

// Pure. `waiting_of_all` counts the Jobs of every set that wait.
inline CreationLimit creation_limit(const JobLimits& limits, std::span<const Child* const> children,
                                    std::size_t waiting_of_all) {
  const auto rest = [](std::size_t limit, std::size_t used) {
    return limit - std::min(limit, used);
  };
  const auto waiting = static_cast<std::size_t>(
      std::ranges::count_if(children, [](const Child* job) { return is_waiting(*job); }));
  const std::size_t of_set = rest(limits.waiting_of_set, waiting);
  const std::size_t of_all = std::max(rest(limits.waiting_of_all, waiting_of_all),
                                      rest(limits.waiting_in_any_case, waiting));
  return of_set <= of_all
             ? CreationLimit{.room = of_set, .limit = limits.waiting_of_set}
             : CreationLimit{.room = of_all, .limit = limits.waiting_of_all, .of_all = true};
}

}  // namespace muster::controllers::jobset
