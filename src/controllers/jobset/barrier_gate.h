// When a barrier opens. Pure: reads its arguments and nothing else. Apart from the JobSet's own
// plan, because all pods wait for this one write: it must not queue behind dearer ones.
#pragma once

#include <span>

#include "controllers/jobset/barrier.h"
#include "controllers/jobset/children.h"

namespace muster::controllers::jobset {

struct GateView {
  const api::JobSet& set;
  std::span<const Child* const> children;  // Jobs whose controller it is
  const Signal* signal = nullptr;          // null: the ConfigMap is not there
  const Starts* starts = nullptr;          // null: no pod has started
  Gates gates = {};
};

// One write to the ConfigMap, or none: the signal when all have started; before that, for barriers
// with a timeout, how many have and which have not.
Plan plan_gate(const Kinds& kinds, const GateView& view);

// Told when it opens.
inline constexpr std::string_view kBarrierOpened = "BarrierOpened";

}  // namespace muster::controllers::jobset
