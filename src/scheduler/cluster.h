// Nodes and what is taken of them, kept current pod by pod: the snapshot on which pods are placed.
// An event costs what it changes, never a walk over all pods.
//
// Pods may come before their nodes and stay after them. Whoever places tentatively (a binding that
// is under way) adds a pod and removes it again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scheduler/host_ports.h"
#include "scheduler/views.h"

namespace muster::scheduler {

// A node, or the place where one would be, with its pods.
struct Room {
  Node node;
  bool exists = false;
  Resources used;
  std::int64_t likely_milli_cpu = 0;  // see Demand
  std::int64_t likely_memory = 0;
  std::vector<const Pod*> pods;
  HostPorts ports;
  std::vector<const Pod*> repelling;  // keep others away: they have anti-affinity terms
};

// Nodes that have the same value of a topology key.
struct Domain {
  std::vector<const Room*> rooms;
  std::size_t repelling = 0;  // pods in it that keep others away over this key
};

class Cluster {
 public:
  Cluster() = default;
  Cluster(const Cluster&) = delete;

  void put_node(Node node);
  void remove_node(std::string_view name);
  void put_namespace(std::string_view name, Labels labels);
  void remove_namespace(std::string_view name);

  // The pod must outlive its stay, and look the same when it is removed.
  void add_pod(const Pod& pod, const std::string& node);
  void remove_pod(const Pod& pod, const std::string& node);

  // Domains of these keys are known while somebody uses them: call it for a pod before it is
  // placed, and the other when it needs no place any more.
  void use_topologies(const Wishes& wishes);
  void drop_topologies(const Wishes& wishes);

  const std::vector<const Room*>& nodes() const { return nodes_; }  // those that exist, by name
  const Room* find(std::string_view node) const;                    // null if there is no such node
  const Labels& namespace_labels(std::string_view ns) const;
  bool selects(const PodTerm& term, const Pod& pod) const {
    return term.selects(pod.ns, namespace_labels(pod.ns), pod.labels);
  }
  // The domain of the node; null if the node lacks the label, or nobody uses the key.
  const Domain* domain_of(const Room& room, std::string_view topology_key) const;
  // Keys over which pods that have a place keep others away.
  const std::map<std::string, std::size_t, std::less<>>& repelling_keys() const {
    return repelling_keys_;
  }
  bool has_topologies() const { return !topologies_.empty(); }
  // The node itself and all that share a domain with it.
  void visit_neighbours(const Room& room, const std::function<void(const Room&)>& visit) const;
  // Whether any pod with a place satisfies the question. Pods that have the label are asked only.
  bool any_pod_with(const std::string& key, const std::string& value,
                    const std::function<bool(const Pod&)>& question) const;
  bool any_pod(const std::function<bool(const Pod&)>& question) const;

 private:
  struct Topology {
    std::size_t users = 0;
    std::map<std::string, Domain, std::less<>> domains;
  };
  Room& room_at(std::string_view name);
  void forget_if_empty(std::string_view name);
  void list_nodes();
  void use_topology(const std::string& key);
  void drop_topology(const std::string& key);
  void enter_domains(const Room& room);
  void leave_domains(const Room& room);
  void count_repelling(const Room& room, const Pod& pod, int sign);

  std::map<std::string, Room, std::less<>> rooms_;
  std::vector<const Room*> nodes_;
  std::map<std::string, Topology, std::less<>> topologies_;
  std::map<std::string, std::size_t, std::less<>> repelling_keys_;
  std::map<std::string, Labels, std::less<>> namespaces_;
  // Pods with a place, by "label=value". Whether one of them is such or such is all that is asked:
  // no order leaks out.
  std::unordered_map<std::string, std::unordered_set<const Pod*>> by_label_;
};

}  // namespace muster::scheduler
