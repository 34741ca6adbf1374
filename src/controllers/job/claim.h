// Which pods are a Job's: those that it controls and that its selector matches (spec: job 2.2, step
// 6). Pure.
#pragma once

#include <span>
#include <vector>

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

struct Claim {
  std::vector<const Pod*> pods;      // its own
  std::vector<const Pod*> adopted;   // to become its own: they match and nobody controls them
  std::vector<const Pod*> released;  // to be its own no more: they do not match
};

Claim claim(const Job& job, std::span<const Pod* const> controlled,
            std::span<const Pod* const> uncontrolled);

}  // namespace muster::controllers::job
