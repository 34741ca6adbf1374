#include "scheduler/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "scheduler/score.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kNoNodes = "no nodes available to schedule pods";
constexpr std::string_view kConflict = "pod affinity terms conflict";
constexpr std::string_view kNamedElsewhere = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
// What upstream's plugin for resource claims has to say, whether there are claims or not.
constexpr std::string_view kNoClaims = "no new claims to deallocate";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";
constexpr std::string_view kNoHelp = "Preemption is not helpful for scheduling";

// How many nodes there are for each reason.
using Histogram = std::map<std::string, int, std::less<>>;

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
std::string sentence(std::size_t nodes, const Histogram& histogram) {
  std::vector<std::string> items;
  for (const auto& [reason, count] : histogram)
    items.push_back(fmt::format("{} {}", count, reason));
  std::ranges::sort(items);
  return fmt::format("0/{} nodes are available: {}.", nodes, fmt::join(items, ", "));
}

// The only nodes that the pod may go to, if every one of its terms names some.
std::optional<std::set<std::string_view>> named_nodes(const Wishes& wishes) {
  if (!wishes.required_nodes || wishes.required_nodes->empty()) return std::nullopt;
  std::set<std::string_view> all;
  for (const NodeTerm& term : *wishes.required_nodes) {
    std::optional<std::set<std::string_view>> of_term;
    for (const api::Requirement& requirement : term.names) {
      if (requirement.op != api::Requirement::Op::kIn) continue;
      std::set<std::string_view> names(requirement.values.begin(), requirement.values.end());
      if (of_term) std::erase_if(names, [&](auto name) { return !of_term->contains(name); });
      of_term = std::move(names);
    }
    if (!of_term) return std::nullopt;
    all.merge(*of_term);
  }
  return all;
}

// Puts together why no node took the pod.
class Explanation {
 public:
  Explanation(const Cluster& cluster, const Pod& pod, std::span<const Refusal> refusals)
      : nodes_(cluster.nodes()), pod_(pod), named_(named_nodes(pod.wishes)) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) took(*nodes_[i], refusals[i]);
  }

  std::string text() const {
    if (named_ && named_->empty())
      return fmt::format("0/{} nodes are available: {}.", nodes_.size(), kConflict);
    return fmt::format("{} {}, preemption: {}", sentence(nodes_.size(), reasons_), kNoClaims,
                       pod_.wishes.never_preempts ? "not eligible due to preemptionPolicy=Never."
                                                  : sentence(nodes_.size(), preemption_));
  }

 private:
  void took(const Room& room, Refusal refusal) {
    bool may_help = is_due_to_pods(refusal);
    if (named_ && !named_->contains(room.node.name)) {
      ++reasons_[std::string(kNamedElsewhere)];
      may_help = false;
    } else if (refusal == Refusal::kResources) {
      const Shortage lack = shortage(pod_.wishes.demand.requests, room.node.allocatable, room.used);
      for (const std::string& reason : lack.reasons) ++reasons_[reason];
      if (lack.reasons.empty()) ++reasons_["Too many pods"];  // but for the reserve
      may_help = !lack.for_ever;
    } else {
      ++reasons_[std::string(reason_of(refusal))];
    }
    ++preemption_[std::string(may_help ? kNoVictims : kNoHelp)];
  }

  const std::vector<const Room*>& nodes_;
  const Pod& pod_;
  std::optional<std::set<std::string_view>> named_;
  Histogram reasons_;
  Histogram preemption_;
};

}  // namespace

Placement place(const Cluster& cluster, const Pod& pod, Reserve reserve) {
  const auto& nodes = cluster.nodes();
  if (nodes.empty()) return {.node = {}, .refusal = std::string(kNoNodes)};
  Filter filter(cluster, pod, reserve);
  std::vector<Refusal> refusals;
  std::vector<const Room*> feasible;
  refusals.reserve(nodes.size());
  for (const Room* room : nodes) {
    refusals.push_back(filter.check(*room));
    if (refusals.back() == Refusal::kNone) feasible.push_back(room);
  }
  if (feasible.empty()) return {.node = {}, .refusal = Explanation(cluster, pod, refusals).text()};
  return {.node = best(cluster, pod, feasible).node.name, .refusal = {}};
}

std::string place_among(const Cluster& cluster, const Pod& pod, std::span<const Room* const> rooms,
                        Reserve reserve) {
  std::optional<Filter> filter;  // mostly nothing has room, and that is said at once
  std::vector<const Room*> feasible;
  for (const Room* room : rooms) {
    if (!has_room(*room, pod, reserve)) continue;
    if (!filter) filter.emplace(cluster, pod, reserve);
    if (filter->check(*room) == Refusal::kNone) feasible.push_back(room);
  }
  return feasible.empty() ? std::string() : best(cluster, pod, feasible).node.name;
}

}  // namespace muster::scheduler
