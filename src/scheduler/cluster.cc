#include "scheduler/cluster.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

std::string label_text(std::string_view key, std::string_view value) {
  return std::string(key) + "=" + std::string(value);
}

void erase_one(std::vector<const Pod*>& list, const Pod* pod) {
  const auto at = std::ranges::find(list, pod);
  if (at == list.end()) return;
  *at = list.back();
  list.pop_back();
}

void visit_keys(const Wishes& wishes, const std::function<void(const std::string&)>& visit) {
  for (const PodTerm& term : wishes.near) visit(term.topology_key);
  for (const PodTerm& term : wishes.apart) visit(term.topology_key);
  for (const WeightedPodTerm& each : wishes.preferred_pods) visit(each.term.topology_key);
  for (const SpreadConstraint& each : wishes.spread) visit(each.topology_key);
}

}  // namespace

Room& Cluster::room_at(std::string_view name) {
  const auto at = rooms_.find(name);
  if (at != rooms_.end()) return at->second;
  Room& room = rooms_[std::string(name)];
  room.node.name = name;
  return room;
}

void Cluster::forget_if_empty(std::string_view name) {
  const auto at = rooms_.find(name);
  if (at != rooms_.end() && !at->second.exists && at->second.pods.empty()) rooms_.erase(at);
}

void Cluster::list_nodes() {
  nodes_.clear();
  for (const auto& [name, room] : rooms_)
    if (room.exists) nodes_.push_back(&room);
}

void Cluster::put_node(Node node) {
  Room& room = room_at(node.name);
  if (room.exists) leave_domains(room);
  const bool is_new = !std::exchange(room.exists, true);
  room.node = std::move(node);
  enter_domains(room);
  if (is_new) list_nodes();
}

void Cluster::remove_node(std::string_view name) {
  const auto at = rooms_.find(name);
  if (at == rooms_.end() || !at->second.exists) return;
  leave_domains(at->second);
  at->second.exists = false;
  forget_if_empty(name);
  list_nodes();
}

void Cluster::put_namespace(std::string_view name, Labels labels) {
  namespaces_[std::string(name)] = std::move(labels);
}

void Cluster::remove_namespace(std::string_view name) {
  if (const auto at = namespaces_.find(name); at != namespaces_.end()) namespaces_.erase(at);
}

void Cluster::add_pod(const Pod& pod, const std::string& node) {
  Room& room = room_at(node);
  const Demand& demand = pod.wishes.demand;
  room.used += demand.requests;
  room.likely_milli_cpu += demand.likely_milli_cpu;
  room.likely_memory += demand.likely_memory;
  room.pods.push_back(&pod);
  room.ports.add(pod.wishes.ports);
  for (const auto& [key, value] : pod.labels) by_label_[label_text(key, value)].insert(&pod);
  if (pod.wishes.apart.empty()) return;
  for (const PodTerm& term : pod.wishes.apart) {
    use_topology(term.topology_key);
    ++repelling_keys_[term.topology_key];
  }
  room.repelling.push_back(&pod);
  count_repelling(room, pod, 1);
}

void Cluster::remove_pod(const Pod& pod, const std::string& node) {
  Room& room = room_at(node);
  const Demand& demand = pod.wishes.demand;
  room.used -= demand.requests;
  room.likely_milli_cpu -= demand.likely_milli_cpu;
  room.likely_memory -= demand.likely_memory;
  erase_one(room.pods, &pod);
  room.ports.remove(pod.wishes.ports);
  for (const auto& [key, value] : pod.labels) {
    const auto at = by_label_.find(label_text(key, value));
    at->second.erase(&pod);
    if (at->second.empty()) by_label_.erase(at);
  }
  if (!pod.wishes.apart.empty()) {
    count_repelling(room, pod, -1);
    erase_one(room.repelling, &pod);
    for (const PodTerm& term : pod.wishes.apart) {
      drop_topology(term.topology_key);
      const auto at = repelling_keys_.find(term.topology_key);
      if (--at->second == 0) repelling_keys_.erase(at);
    }
  }
  forget_if_empty(node);
}

void Cluster::count_repelling(const Room& room, const Pod& pod, int sign) {
  if (!room.exists) return;
  for (const PodTerm& term : pod.wishes.apart) {
    const auto value = find_label(room.node.labels, term.topology_key);
    const auto topology = topologies_.find(term.topology_key);
    if (!value || topology == topologies_.end()) continue;
    Domain& domain = topology->second.domains.find(*value)->second;
    domain.repelling += static_cast<std::size_t>(sign);
  }
}

void Cluster::enter_domains(const Room& room) {
  for (auto& [key, topology] : topologies_) {
    if (const auto value = find_label(room.node.labels, key))
      topology.domains[std::string(*value)].rooms.push_back(&room);
  }
  for (const Pod* pod : room.repelling) count_repelling(room, *pod, 1);
}

void Cluster::leave_domains(const Room& room) {
  for (const Pod* pod : room.repelling) count_repelling(room, *pod, -1);
  for (auto& [key, topology] : topologies_) {
    const auto value = find_label(room.node.labels, key);
    if (!value) continue;
    const auto at = topology.domains.find(*value);
    std::erase(at->second.rooms, &room);
    if (at->second.rooms.empty()) topology.domains.erase(at);
  }
}

void Cluster::use_topologies(const Wishes& wishes) {
  visit_keys(wishes, [this](const std::string& key) { use_topology(key); });
}

void Cluster::drop_topologies(const Wishes& wishes) {
  visit_keys(wishes, [this](const std::string& key) { drop_topology(key); });
}

void Cluster::use_topology(const std::string& key) {
  Topology& topology = topologies_[key];
  if (topology.users++ > 0) return;
  for (const Room* room : nodes_) {
    if (const auto value = find_label(room->node.labels, key))
      topology.domains[std::string(*value)].rooms.push_back(room);
  }
}

void Cluster::drop_topology(const std::string& key) {
  const auto at = topologies_.find(key);
  if (--at->second.users == 0) topologies_.erase(at);
}

const Room* Cluster::find(std::string_view node) const {
  const auto at = rooms_.find(node);
  return at != rooms_.end() && at->second.exists ? &at->second : nullptr;
}

const Labels& Cluster::namespace_labels(std::string_view ns) const {
  static const Labels kNone;
  const auto at = namespaces_.find(ns);
  return at == namespaces_.end() ? kNone : at->second;
}

const Domain* Cluster::domain_of(const Room& room, std::string_view topology_key) const {
  const auto topology = topologies_.find(topology_key);
  if (topology == topologies_.end()) return nullptr;
  const auto value = find_label(room.node.labels, topology_key);
  if (!value) return nullptr;
  const auto at = topology->second.domains.find(*value);
  return at == topology->second.domains.end() ? nullptr : &at->second;
}

void Cluster::visit_neighbours(const Room& room,
                               const std::function<void(const Room&)>& visit) const {
  visit(room);
  for (const auto& [key, topology] : topologies_) {
    if (const Domain* domain = domain_of(room, key))
      for (const Room* each : domain->rooms) visit(*each);
  }
}

bool Cluster::any_pod_with(const std::string& key, const std::string& value,
                           const std::function<bool(const Pod&)>& question) const {
  const auto at = by_label_.find(label_text(key, value));
  return at != by_label_.end() &&
         std::ranges::any_of(at->second, [&](const Pod* pod) { return question(*pod); });
}

bool Cluster::any_pod(const std::function<bool(const Pod&)>& question) const {
  return std::ranges::any_of(rooms_, [&](const auto& each) {
    return std::ranges::any_of(each.second.pods, [&](const Pod* pod) { return question(*pod); });
  });
}

}  // namespace muster::scheduler
