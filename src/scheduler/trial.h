// Pods that are placed for the time of one decision: the cluster counts them until the end of the
// scope and is then as it was. What is decided counts for good once it is in flight.
#pragma once

#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cluster.h"

namespace muster::scheduler {

class Trial {
 public:
  explicit Trial(Cluster& cluster) : cluster_(cluster) {}
  ~Trial() {
    for (const auto& [pod, node] : placed_ | std::views::reverse) cluster_.remove_pod(*pod, node);
  }
  Trial(const Trial&) = delete;

  // The pod outlives the trial.
  void add(const Pod& pod, std::string node) {
    cluster_.add_pod(pod, node);
    placed_.emplace_back(&pod, std::move(node));
  }

 private:
  Cluster& cluster_;
  std::vector<std::pair<const Pod*, std::string>> placed_;
};

}  // namespace muster::scheduler
