#include "controllers/job/lag.h"

#include <algorithm>

#include "api/values/interval_set.h"
#include "client/informer.h"

namespace muster::controllers::job {
namespace {

bool is_in_status(const Job& job, const Pod& pod) {
  if (!job.is_indexed()) {
    return std::ranges::find(job.uncounted_succeeded, pod.ref.uid) != job.uncounted_succeeded.end();
  }
  return !job.has_index(pod.index) ||
         api::IntervalSet::parse(job.completed_indexes, job.completions.value_or(0))
             .contains(pod.index);
}

}  // namespace

bool lags_behind(const Job& job, std::span<const Pod* const> pods, const Known& known) {
  const bool none_is_newer = known.pods != 0 && known.jobs >= known.pods;
  if (job.deleting || none_is_newer) return false;
  return std::ranges::any_of(pods, [&](const Pod* pod) {
    return pod->phase == api::PodPhase::kSucceeded && !pod->tracked && !pod->deleting &&
           client::to_revision(pod->ref.resource_version) > known.jobs && !is_in_status(job, *pod);
  });
}

}  // namespace muster::controllers::job
