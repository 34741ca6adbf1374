// What becomes of nodes that do not answer, and of their pods.
//
// When a node counts as lost. Whoever plays a node shows that it lives by renewing a Lease of the
// node's name in kube-node-lease, or by new heartbeats in its condition Ready; what counts is when
// such a sign was seen, by our own monotonic time. Without one for 50 s, or for as long as the
// Lease itself says if that is more, the node is lost: its conditions become Unknown. Time counts
// only against nodes that have a Lease. A node that never had one is judged by what its status
// says, whatever its age: nobody has promised to renew it. (kube-controller-manager lets such a
// node go stale as well; every kubelet has had a Lease for years, but nodes that are written by
// hand, in tests and in the simulator, have none and must not die for it.) A node whose status
// never said anything keeps the taint that it was born with.
//
// Taints follow conditions: not-ready or unreachable with NoSchedule at once, with NoExecute as
// long as some other node is ready: when all are gone, the trouble is most likely our own, and
// evicting everything would help nobody. Pods that do not bear a NoExecute taint, or not longer,
// are deleted. Pods that have ended stay for people to look at.
//
// A moment is a point in Loop::monotonic(). A clock that is set by a day loses no node and evicts
// no pod: the ages of taints and pods are taken from the clock once, when they are first seen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "controllers/nodes/views.h"

namespace muster::controllers::nodes {

inline constexpr Duration kGrace = std::chrono::seconds(50);

// What was seen of one node.
class SignsOfLife {
 public:
  void saw(const Node& node, Duration moment);
  void saw(const Lease& lease, Duration moment);
  // Nothing could have been seen before.
  void start_anew(Duration moment) { last_ = moment; }

  bool is_lost(Duration moment) const { return has_lease_ && last_ + grace_ <= moment; }

 private:
  bool has_lease_ = false;
  Duration grace_ = kGrace;
  std::string heartbeat_;
  std::string renewed_;
  Duration last_{};  // moment
};

struct NodeFacts {
  bool lost = false;
  bool any_ready = false;  // of all nodes
};
// All pure.
Plan plan_node(const api::Resource& nodes, const Node& node, const NodeFacts& facts, Time now);

struct SeenTaint {
  Taint taint;
  Duration since{};  // moment
};
// What was seen of a pod and of its node.
struct PodFacts {
  Duration since{};                   // moment when the pod was made
  std::span<const SeenTaint> taints;  // of its node
  Duration moment{};                  // the present one
};
// The moment when the pod has to go because of these taints; nothing: never.
std::optional<Duration> eviction_moment(const Pod& pod, const PodFacts& facts);
Plan plan_pod(const api::Resource& pods, const Pod& pod, const Node& node, const PodFacts& facts,
              Time now);

}  // namespace muster::controllers::nodes
