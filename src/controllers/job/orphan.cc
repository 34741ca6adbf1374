#include "controllers/job/orphan.h"

#include "controllers/job/names.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::job {

bool is_orphan(const Pod& pod, const Job* owner) {
  const bool foreign = !pod.owner_uid.empty() && !pod.owned_by_job;
  if (!pod.tracked || foreign) return false;
  return owner == nullptr || (owner->is_finished() && !owner->is_managed_elsewhere());
}

Plan plan_orphan(const Kinds& kinds, const Pod& pod, const Job* owner) {
  Plan plan;
  if (!is_orphan(pod, owner)) return plan;
  plan.reason = "no Job counts this pod any more";
  plan.then(let_go(kinds, pod));
  return plan;
}

}  // namespace muster::controllers::job
