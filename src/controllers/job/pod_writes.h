// The writes to pods that a Job's plan is made of.
#pragma once

#include <span>

#include "controllers/job/job_view.h"
#include "controllers/job/manage_pods.h"
#include "controllers/job/pod_view.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::job {

struct Kinds {
  const api::Resource* job;
  const api::Resource* pod;
};

// In batches of 1, 2, 4 …: if the server takes no pods, one attempt shows it.
std::vector<Step> create_pods(const Kinds& kinds, const Job& job, std::span<const Birth> born);

Step delete_pods(const Kinds& kinds, const Job& job, std::span<const Pod* const> pods);

// Takes the tracking finalizer away.
Write let_go(const Kinds& kinds, const Pod& pod);
Step let_go(const Kinds& kinds, std::span<const Pod* const> pods);

Write adopt(const Kinds& kinds, const Job& job, const Pod& pod);
Write release(const Kinds& kinds, const Job& job, const Pod& pod);

}  // namespace muster::controllers::job
