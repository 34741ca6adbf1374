// Topology spread constraints that must hold (whenUnsatisfiable: DoNotSchedule): no domain may have
// more of the pods that are counted, this one included, than the emptiest one and maxSkew.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/cluster.h"

namespace muster::scheduler {

// For one pod. Counts when it is made; used while the cluster stays as it is.
class Spread {
 public:
  enum class Answer : std::uint8_t { kFits, kTooMany, kOutside };  // outside of the topology

  Spread(const Cluster& cluster, const Pod& pod);

  Answer check(const Room& room) const;

 private:
  struct Count {
    std::map<const Domain*, std::int64_t> pods;  // of domains with nodes that count
    std::int64_t least = 0;
  };
  bool counts(const Room& room, const SpreadConstraint& constraint) const;
  Count count(const SpreadConstraint& constraint) const;

  const Cluster& cluster_;
  const Pod& pod_;
  std::vector<Count> counted_;  // by constraint
};

}  // namespace muster::scheduler
