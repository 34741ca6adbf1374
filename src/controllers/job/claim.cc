#include "controllers/job/claim.h"

namespace muster::controllers::job {

Claim claim(const Job& job, std::span<const Pod* const> controlled,
            std::span<const Pod* const> uncontrolled) {
  Claim claim;
  for (const Pod* pod : controlled) {
    if ((job.selects_by_uid && pod->wears_owner_uid) || job.selects(pod->labels)) {
      claim.pods.push_back(pod);
    } else if (!job.deleting) {
      claim.released.push_back(pod);
    }
  }
  if (job.deleting) return claim;
  for (const Pod* pod : uncontrolled) {
    if (!pod->deleting && job.selects(pod->labels)) claim.adopted.push_back(pod);
  }
  return claim;
}

}  // namespace muster::controllers::job
