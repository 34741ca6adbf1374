#include "scheduler/filter.h"

#include <algorithm>

#include "scheduler/node_rules.h"

namespace muster::scheduler {
namespace {

bool any_in(const Domain& domain, const auto& question) {
  return std::ranges::any_of(domain.rooms, [&](const Room* room) {
    return std::ranges::any_of(room->pods, [&](const Pod* pod) { return question(*pod); });
  });
}

// `ask` only once per domain.
template <class Answers, class Ask>
bool remembered(Answers& answers, const Domain& domain, const Ask& ask) {
  const auto [at, is_new] = answers.try_emplace(&domain, false);
  if (is_new) at->second = ask();
  return at->second;
}

}  // namespace

std::string_view reason_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kUnschedulable:
      return "node(s) were unschedulable";
    case Refusal::kTaint:
      return "node(s) had untolerated taint(s)";
    case Refusal::kNodeAffinity:
      return "node(s) didn't match Pod's node affinity/selector";
    case Refusal::kPorts:
      return "node(s) didn't have free ports for the requested pod ports";
    case Refusal::kSpread:
      return "node(s) didn't match pod topology spread constraints";
    case Refusal::kOutsideOfSpread:
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    case Refusal::kPodAffinity:
      return "node(s) didn't match pod affinity rules";
    case Refusal::kPodAntiAffinity:
      return "node(s) didn't match pod anti-affinity rules";
    case Refusal::kOthersAntiAffinity:
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    case Refusal::kNone:
    case Refusal::kResources:
      return {};
  }
  return {};
}

bool is_due_to_pods(Refusal refusal) {
  return refusal == Refusal::kPorts || refusal == Refusal::kResources ||
         refusal == Refusal::kSpread || refusal == Refusal::kPodAntiAffinity ||
         refusal == Refusal::kOthersAntiAffinity;
}

Filter::Filter(const Cluster& cluster, const Pod& pod, Reserve reserve)
    : cluster_(cluster), pod_(pod), reserve_(reserve), apart_(pod.wishes.apart.size()) {
  if (pod.wishes.near.empty()) return;
  company_exists_ = has_company_anywhere();
  is_own_company_ = is_wanted_company(pod);
}

bool has_room(const Room& room, const Pod& pod, Reserve reserve) {
  const Resources& all = room.node.allocatable;
  if (reserve == Reserve::kLeaves && room.used.pods >= all.pods - reserve_of(all.pods))
    return false;
  return fits(pod.wishes.demand.requests, all, room.used);
}

Refusal Filter::check(const Room& room) {
  const Wishes& wishes = pod_.wishes;
  const Node& node = room.node;
  if (!bears_cordon(wishes, node)) return Refusal::kUnschedulable;
  if (!bears_taints(wishes, node)) return Refusal::kTaint;
  if (!matches_required_nodes(wishes, node)) return Refusal::kNodeAffinity;
  if (!has_free_ports(room)) return Refusal::kPorts;
  if (!has_room(room, pod_, reserve_)) return Refusal::kResources;
  if (const Refusal spread = check_spread(room); spread != Refusal::kNone) return spread;
  if (!is_near_all(room)) return Refusal::kPodAffinity;
  if (!is_apart_from_all(room)) return Refusal::kPodAntiAffinity;
  if (!is_borne_by_others(room)) return Refusal::kOthersAntiAffinity;
  return Refusal::kNone;
}

bool Filter::has_free_ports(const Room& room) const {
  return std::ranges::none_of(pod_.wishes.ports,
                              [&](const HostPort& wanted) { return room.ports.clash(wanted); });
}

Refusal Filter::check_spread(const Room& room) {
  if (pod_.wishes.spread.empty()) return Refusal::kNone;
  if (!spread_) spread_.emplace(cluster_, pod_);
  switch (spread_->check(room)) {
    case Spread::Answer::kFits:
      return Refusal::kNone;
    case Spread::Answer::kTooMany:
      return Refusal::kSpread;
    case Spread::Answer::kOutside:
      return Refusal::kOutsideOfSpread;
  }
  return Refusal::kNone;
}

// Company is a pod that all terms select.
bool Filter::is_wanted_company(const Pod& other) const {
  return std::ranges::all_of(pod_.wishes.near,
                             [&](const PodTerm& term) { return cluster_.selects(term, other); });
}

bool Filter::has_company_anywhere() const {
  const auto question = [this](const Pod& other) { return is_wanted_company(other); };
  using Op = api::Requirement::Op;
  for (const PodTerm& term : pod_.wishes.near) {
    for (const api::Requirement& requirement : term.labels) {
      if (requirement.op != Op::kIn) continue;
      return std::ranges::any_of(requirement.values, [&](const std::string& value) {
        return cluster_.any_pod_with(requirement.key, value, question);
      });
    }
  }
  return cluster_.any_pod(question);
}

bool Filter::is_near(const Domain& domain) {
  return company_exists_ && remembered(near_, domain, [&] {
           return any_in(domain, [this](const Pod& other) { return is_wanted_company(other); });
         });
}

bool Filter::is_near_all(const Room& room) {
  bool near = true;
  for (const PodTerm& term : pod_.wishes.near) {
    const Domain* const domain = cluster_.domain_of(room, term.topology_key);
    if (domain == nullptr) return false;  // also the first one needs a place in the topology
    near = near && is_near(*domain);
  }
  return near || (!company_exists_ && is_own_company_);
}

bool Filter::is_apart_from_all(const Room& room) {
  const auto& terms = pod_.wishes.apart;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Domain* const domain = cluster_.domain_of(room, terms[i].topology_key);
    if (domain == nullptr) continue;
    const bool meets = remembered(apart_[i], *domain, [&] {
      return any_in(*domain, [&](const Pod& other) { return cluster_.selects(terms[i], other); });
    });
    if (meets) return false;
  }
  return true;
}

bool Filter::is_kept_away(const Domain& domain, const std::string& key) const {
  return std::ranges::any_of(domain.rooms, [&](const Room* room) {
    return std::ranges::any_of(room->repelling, [&](const Pod* other) {
      return std::ranges::any_of(other->wishes.apart, [&](const PodTerm& term) {
        return term.topology_key == key && cluster_.selects(term, pod_);
      });
    });
  });
}

bool Filter::is_borne_by_others(const Room& room) {
  for (const auto& [key, count] : cluster_.repelling_keys()) {
    const Domain* const domain = cluster_.domain_of(room, key);
    if (domain == nullptr || domain->repelling == 0) continue;
    if (remembered(kept_away_[key], *domain, [&] { return is_kept_away(*domain, key); }))
      return false;
  }
  return true;
}

}  // namespace muster::scheduler
