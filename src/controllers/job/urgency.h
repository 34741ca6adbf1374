// How soon a Job has to be looked at because one of its pods changed. Pure.
#pragma once

#include <cstdint>

#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

enum class Urgency : std::uint8_t {
  kNone,  // no decision depends on it
  kSoon,  // only the number of ready pods does: several such changes make one look
  kNow,
};

// `before` is null for a new pod, `after` for one that is gone.
Urgency urgency(const Pod* before, const Pod* after);

}  // namespace muster::controllers::job
