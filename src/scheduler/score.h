// Which of the nodes that a pod may go to is the best one.
#pragma once

#include <span>

#include "scheduler/cluster.h"

namespace muster::scheduler {

// As kube-scheduler weighs them: taints that say "rather not" (3), preferred nodes and preferred
// pods (2 each), room that is left (1). Of equal ones the first in the list, which is not empty.
const Room& best(const Cluster& cluster, const Pod& pod, std::span<const Room* const> rooms);

}  // namespace muster::scheduler
