// What a pod demands of a node, and what the node lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/views/pod_resources.h"
#include "json/value.h"

namespace muster::scheduler {

using Resources = api::ComputeResources;

struct Demand {
  Resources requests;
  // The same, where a container that says nothing counts as a small one: for spreading pods that
  // say nothing at all.
  std::int64_t likely_milli_cpu = 0;
  std::int64_t likely_memory = 0;

  bool operator==(const Demand&) const = default;
};

Demand read_demand(json::Value pod_spec);

// What `free` lacks, in kube-scheduler's words.
struct Shortage {
  std::vector<std::string> reasons;
  bool for_ever = false;  // more is asked for than an empty node has
};
Shortage shortage(const Resources& requests, const Resources& allocatable, const Resources& used);
// Whether there is none; what placement asks a thousand times.
bool fits(const Resources& requests, const Resources& allocatable, const Resources& used);

}  // namespace muster::scheduler
