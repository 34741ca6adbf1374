// Where a pod goes. Pure on what is passed in.
//
// This is the trivial placement: the first ready node that takes pods. Filters, resources and gangs
// replace it.
#pragma once

#include <span>
#include <string>

#include "json/value.h"

namespace muster::scheduler {

// Whether the pod is this scheduler's and still without a node.
bool wants_node(json::Value pod);

// The node's name; empty if none fits now.
std::string place(json::Value pod, std::span<const json::Value> nodes);

}  // namespace muster::scheduler
