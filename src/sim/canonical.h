// The form in which end states are compared between runs and engines. It drops what may rightly
// differ: times, uids, revisions, generated suffixes, managedFields, addresses, node names, and of
// a pod's status all but the phase (docs/simulation.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::sim {

// One line per object, sorted; `objects` are manifests with apiVersion and kind.
std::string canonical_state(std::span<const json::Value> objects);

// In words, object by object and field by field; empty if the states are equal.
std::string difference(std::string_view before, std::string_view after);

}  // namespace muster::sim
