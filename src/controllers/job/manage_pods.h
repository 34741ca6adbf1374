// How many pods a Job should have, and so which go and which come (spec: job 2.4). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "controllers/job/backoff.h"
#include "controllers/job/census.h"
#include "controllers/job/job_view.h"
#include "controllers/job/pod_room.h"

namespace muster::controllers::job {

// A pod to be created.
struct Birth {
  std::int64_t index = kNoIndex;
  const Pod* replaced = nullptr;  // with backoffLimitPerIndex, whose counts it inherits
  std::string suffix;             // of its name
};

struct PodWork {
  std::vector<const Pod*> removed;  // no pod comes in a pass in which one goes
  std::vector<Birth> born;
  std::optional<Duration> wait;  // until more may come: back-off
  bool held_back = false;        // more are wanted than there is room for
};

PodWork manage_pods(const Job& job, const Census& census, const BackoffRecord& backoff,
                    const CreationRoom& births, Time now);

}  // namespace muster::controllers::job
