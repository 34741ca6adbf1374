// Amounts of what nodes have and pods ask for. The scheduler and the nodes count with the same
// ones: a pod that was placed is not turned away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"

namespace muster::api {

struct ComputeResources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  // Extended resources and huge pages, by name.
  std::vector<std::pair<std::string, std::int64_t>> others;

  std::int64_t other(std::string_view name) const;  // 0 if it is not listed
  ComputeResources& operator+=(const ComputeResources& more);
  ComputeResources& operator-=(const ComputeResources& less);
  void raise_to(const ComputeResources& least);  // each amount at least this much
  bool operator==(const ComputeResources&) const = default;
};

ComputeResources read_compute_resources(json::Value list);  // {cpu: "2", memory: 1Gi, …}

// What a container counts for that says nothing of the resource.
struct Unsaid {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
};

// What a pod takes away from its node, with one pod: for each resource the larger one of what its
// containers ask for together and of what the hungriest moment of its start asks for. Sidecars run
// beside everything that starts after them. The pod's own word on cpu, memory and huge pages
// replaces that.
ComputeResources pod_requests(json::Value pod_spec, const Unsaid& unsaid = {});

}  // namespace muster::api
