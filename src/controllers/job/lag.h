// Kinds that are watched apart do not move together: right after a start the Job may be seen as it
// was before its newest pods ended. Planning from that would run an index again that has succeeded.
// Where all kinds come in one order, both are known up to the same revision, and nothing here looks
// at a pod. Pure.
#pragma once

#include <span>

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"
#include "store/store.h"

namespace muster::controllers::job {

// Up to which revision every change of a kind has been seen; 0 while a list comes in.
struct Known {
  store::Revision jobs = 0;
  store::Revision pods = 0;
};

// Whether a pod is further than the Job. A pod that succeeded is let go only after the status says
// so: one that was let go, is not in the status, and is newer than everything that is known of Jobs
// proves that the status is an old one.
bool lags_behind(const Job& job, std::span<const Pod* const> pods, const Known& known);

}  // namespace muster::controllers::job
