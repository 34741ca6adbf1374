// One walk along the waiting line, which decides which pods are given a node and which are refused.
// It takes several turns if there is much to look at.
//
// Fresh pods look at all nodes, those that were refused before at the nodes that are better now.
// During a walk nodes only fill up. So what one pod was refused is refused to all of its kin,
// unless it matters where other pods are: then it matters which pod asks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/cluster.h"
#include "scheduler/waiting_line.h"

namespace muster::scheduler {

// How far a walk has come.
struct Walk {
  std::set<std::string> nodes;         // that may take pods that they refused before
  std::optional<Turn> next;            // where it goes on; none: at the front
  std::map<Kin, std::string> refused;  // and why; empty if the reason was not asked for
};

struct WalkTurn {
  struct Given {
    const Pod* pod;
    std::string node;
  };
  struct Refused {
    const Pod* pod;
    std::string why;
  };
  std::vector<Given> given;
  std::vector<Refused> refused;   // of the fresh ones; the others know already
  std::vector<const Pod*> going;  // would have got a node, but go with their owners
  Walk walk;                      // without a `next` it is over
  std::size_t fresh_left = 0;     // fresh pods that this turn has not come to
  std::size_t looks = 0;          // how often a pod was held against a node
};

struct WalkQuestions {
  std::function<bool(const Pod&)> goes;            // with its owner
  std::function<bool(const Pod&)> leaves_reserve;  // must not take the last places of a node
};

// The next turn of a walk: so many looks, and then the rest of the pod at hand. The cluster, which
// has everything that is in flight on it, is used for trials and left as it was.
WalkTurn walk_on(const WaitingLine& line, Cluster& cluster, Walk walk,
                 const WalkQuestions& questions, std::size_t max_looks);

}  // namespace muster::scheduler
