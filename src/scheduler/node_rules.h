// What a pod asks of the node itself, whoever is there.
#pragma once

#include "scheduler/views.h"

namespace muster::scheduler {

bool bears_cordon(const Wishes& wishes, const Node& node);
bool bears_taints(const Wishes& wishes, const Node& node);
bool matches_required_nodes(const Wishes& wishes, const Node& node);

}  // namespace muster::scheduler
