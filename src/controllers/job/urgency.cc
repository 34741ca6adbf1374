#include "controllers/job/urgency.h"

#include <tuple>

namespace muster::controllers::job {
namespace {

// All that decisions are made of, but for readiness and for what only ranks pods.
auto facts(const Pod& pod) {
  const api::PodPhase end = pod.has_ended() ? pod.phase : api::PodPhase::kUnknown;
  return std::tuple(end, std::tie(pod.ref.uid, pod.owner_uid, pod.labels, pod.tracked, pod.deleting,
                                  pod.index, pod.restarts));
}

}  // namespace

Urgency urgency(const Pod* before, const Pod* after) {
  if (before == nullptr || after == nullptr) return Urgency::kNow;
  if (facts(*before) != facts(*after)) return Urgency::kNow;
  return before->ready == after->ready ? Urgency::kNone : Urgency::kSoon;
}

}  // namespace muster::controllers::job
