// How many Jobs a set may create now (JobLimits).
#pragma once

#include <algorithm>
#include <span>

#include "controllers/jobset/child.h"
#include "controllers/runtime/creation_room.h"
#include "controllers/runtime/job_limits.h"

namespace muster::controllers::jobset {

// A Job that has been created ahead of what runs.
inline bool is_waiting(const Child& job) {
  return job.end == Child::End::kNone && !job.terminating && job.ready == 0 && job.succeeded == 0;
}

// Pure. `waiting_of_all` counts the Jobs of every set that wait.
inline CreationRoom creation_limit(const JobLimits& limits, std::span<const Child* const> children,
                                   std::size_t waiting_of_all) {
  const auto waiting =
      std::ranges::count_if(children, [](const Child* job) { return is_waiting(*job); });
  return creation_room(limits, static_cast<std::size_t>(waiting), waiting_of_all);
}

}  // namespace muster::controllers::jobset
