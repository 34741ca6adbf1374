// Pods that still carry the tracking finalizer although no Job will count them: it holds them back
// for nothing and goes (spec: job 2.1, 2.11). Pure.
#pragma once

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"
#include "controllers/job/pod_writes.h"

namespace muster::controllers::job {

// `owner` is the Job that controls the pod; null if it has none or that Job is gone.
bool is_orphan(const Pod& pod, const Job* owner);

Plan plan_orphan(const Kinds& kinds, const Pod& pod, const Job* owner);

}  // namespace muster::controllers::job
