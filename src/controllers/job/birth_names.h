// The generated part of new pods' names. A function of what the pass saw, not of chance: a pass
// that is repeated because its answer was lost, or by the next process after a crash, asks for the
// same names again and is told that they exist. So a Job has no twin pods, whatever fails.
#pragma once

#include <span>

#include "controllers/job/census.h"
#include "controllers/job/manage_pods.h"

namespace muster::controllers::job {

struct Namesakes {
  // Pods of the namespace without a controller: one that the Job has let go keeps its name.
  std::span<const Pod* const> uncontrolled;
  // Passes that failed in a row just before: after enough of them a name is somebody else's.
  int failures = 0;
};

void name_births(const Job& job, const Census& census, const Namesakes& others,
                 std::span<Birth> born);

}  // namespace muster::controllers::job
