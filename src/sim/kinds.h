// Kinds as scenarios name them, and the kinds whose objects make up an end state.
#pragma once

#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"

namespace muster::sim {

// What every scenario's end state consists of. A scenario can add to it (alsoCompare); events and
// leases are not state.
const std::vector<const api::Resource*>& compared_kinds();

// By its kind; with an apiVersion where the kind alone is ambiguous.
Result<const api::Resource*> find_kind(std::string_view api_version, std::string_view kind);

// Whether several groups have a kind of this name, like Workload.
bool is_ambiguous(std::string_view kind);

}  // namespace muster::sim
