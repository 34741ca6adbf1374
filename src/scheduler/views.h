// What placement reads of pods and nodes. Each version of an object is read once, when it comes;
// two versions that are equal here make no difference to placement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/values/selector.h"
#include "api/values/toleration.h"
#include "base/time.h"
#include "json/value.h"
#include "scheduler/resources.h"

namespace muster::scheduler {

using Labels = std::vector<std::pair<std::string, std::string>>;  // by key
Labels read_labels(json::Value labels);
std::optional<std::string_view> find_label(const Labels& labels, std::string_view key);
bool all_met(const std::vector<api::Requirement>& requirements, const Labels& labels);

struct Node {
  std::string name;
  Labels labels;
  std::vector<api::Taint> taints;
  bool unschedulable = false;
  Resources allocatable;

  bool operator==(const Node&) const = default;
};

// One nodeSelectorTerm: of labels and of the node's name. Without any requirement it matches no
// node.
struct NodeTerm {
  std::vector<api::Requirement> labels;
  std::vector<api::Requirement> names;

  bool matches(const Node& node) const;
  bool operator==(const NodeTerm&) const = default;
};

struct WeightedNodeTerm {
  std::int64_t weight = 0;
  NodeTerm term;

  bool operator==(const WeightedNodeTerm&) const = default;
};

// Other pods, near which a pod wants to be, or must not be.
struct PodTerm {
  std::string topology_key;  // near: on nodes with the same value of this label
  std::vector<std::string> namespaces;
  std::optional<std::vector<api::Requirement>> of_namespaces;  // by their labels, besides
  bool of_nobody = false;                                      // without a selector
  std::vector<api::Requirement> labels;

  bool selects(std::string_view ns, const Labels& ns_labels, const Labels& pod_labels) const;
  bool operator==(const PodTerm&) const = default;
};

struct WeightedPodTerm {
  std::int64_t weight = 0;  // below 0: rather not
  PodTerm term;

  bool operator==(const WeightedPodTerm&) const = default;
};

// A topologySpreadConstraint that must hold.
struct SpreadConstraint {
  std::string topology_key;
  std::int64_t max_skew = 1;
  std::int64_t min_domains = 1;
  bool honors_affinity = true;  // nodeAffinityPolicy
  bool honors_taints = false;   // nodeTaintsPolicy
  bool of_nobody = false;       // without a selector
  std::vector<api::Requirement> labels;

  bool selects(const Labels& pod_labels) const { return !of_nobody && all_met(labels, pod_labels); }
  bool operator==(const SpreadConstraint&) const = default;
};

inline constexpr std::string_view kAnyAddress = "0.0.0.0";

struct HostPort {
  std::string ip;  // kAnyAddress: all
  std::string protocol;
  std::int64_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// What a pod asks of its place.
struct Wishes {
  Demand demand;
  Labels node_selector;
  std::optional<std::vector<NodeTerm>> required_nodes;  // one of these
  std::vector<WeightedNodeTerm> preferred_nodes;
  std::vector<api::Toleration> tolerations;
  std::vector<HostPort> ports;
  std::vector<PodTerm> near;  // all of these
  std::vector<PodTerm> apart;
  std::vector<WeightedPodTerm> preferred_pods;
  std::vector<SpreadConstraint> spread;  // all of these
  bool never_preempts = false;

  bool operator==(const Wishes&) const = default;
};

using PodClass = std::uint32_t;  // pod_classes.h

struct Pod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string group;  // its JobSet, or else its controller
  std::int64_t generation = 0;
  Labels labels;
  Time created;
  std::int64_t priority = 0;
  std::string node;    // where it is bound; empty: nowhere
  bool ours = false;   // its schedulerName is ours
  bool gated = false;  // it has scheduling gates
  bool deleting = false;
  bool ended = false;  // takes nothing any more
  Wishes wishes;
  // Of the condition PodScheduled while it is False.
  std::string refusal_reason;
  std::string refusal;

  // What the scheduler notes down while the pod waits.
  PodClass cls = 0;
  bool surplus = false;  // its class has as many pods without it as could run at once

  bool wants_node() const { return ours && node.empty() && !gated && !deleting && !ended; }
};

Node read_node(json::Value object);
Pod read_pod(json::Value object);

}  // namespace muster::scheduler
