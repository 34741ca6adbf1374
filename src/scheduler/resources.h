// Amounts of what nodes have and pods ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"

namespace muster::scheduler {

struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  // Extended resources and huge pages, by name.
  std::vector<std::pair<std::string, std::int64_t>> others;

  std::int64_t other(std::string_view name) const;  // 0 if it is not listed
  Resources& operator+=(const Resources& more);
  Resources& operator-=(const Resources& less);
  void raise_to(const Resources& least);  // each amount at least this much
  bool operator==(const Resources&) const = default;
};

Resources read_resources(json::Value list);  // {cpu: "2", memory: 1Gi, …}

struct Demand {
  Resources requests;  // with one pod
  // The same, where a container that says nothing counts as a small one: for spreading pods that
  // say nothing at all.
  std::int64_t likely_milli_cpu = 0;
  std::int64_t likely_memory = 0;

  bool operator==(const Demand&) const = default;
};

// What a pod takes away from its node: for each resource the larger one of what its containers ask
// for together and of what the hungriest moment of its start asks for. Sidecars run beside
// everything that starts after them.
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
