// Where a pod goes. Pure: reads the cluster and changes nothing; the same cluster and pod give the
// same answer.
//
// Every node is looked at, none is sampled: the answer does not depend on chance. There is no
// preemption; its clause in the message says what kube-scheduler says when none would help.
#pragma once

#include <span>
#include <string>

#include "scheduler/cluster.h"
#include "scheduler/filter.h"

namespace muster::scheduler {

struct Placement {
  std::string node;     // empty: nowhere now
  std::string refusal;  // why, as kube-scheduler puts it
};

// The cluster knows the pod's topologies (use_topologies).
Placement place(const Cluster& cluster, const Pod& pod, Reserve reserve = Reserve::kMayUse);

// The same among a few nodes, in the order of their names, for a pod that has been refused
// everywhere else; empty if none takes it.
std::string place_among(const Cluster& cluster, const Pod& pod, std::span<const Room* const> rooms,
                        Reserve reserve = Reserve::kMayUse);

}  // namespace muster::scheduler
