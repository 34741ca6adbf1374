// Caches of two kinds do not move together: right after a start the Job may be seen as it was
// before its newest pods ended. Planning from that would run an index again that has succeeded.
// Pure.
#pragma once

#include <span>

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"
#include "store/store.h"

namespace muster::controllers::job {

// Whether a pod is further than the Job. A pod that succeeded is let go only after the status says
// so: one that was let go, is not in the status, and is newer than everything that is known of Jobs
// (`seen`) proves that the status is an old one.
bool lags_behind(const Job& job, std::span<const Pod* const> pods, store::Revision seen);

}  // namespace muster::controllers::job
