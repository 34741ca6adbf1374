#include "scheduler/spread.h"

#include <algorithm>
#include <ranges>

#include "scheduler/node_rules.h"

namespace muster::scheduler {
namespace {

bool is_counted(const SpreadConstraint& constraint, const Pod& owner, const Pod& pod) {
  return pod.ns == owner.ns && !pod.deleting && constraint.selects(pod.labels);
}

}  // namespace

Spread::Spread(const Cluster& cluster, const Pod& pod) : cluster_(cluster), pod_(pod) {
  for (const SpreadConstraint& constraint : pod.wishes.spread)
    counted_.push_back(count(constraint));
}

// Nodes that the pod could not go to anyway do not count, as far as the constraint says so.
bool Spread::counts(const Room& room, const SpreadConstraint& constraint) const {
  const Wishes& wishes = pod_.wishes;
  return std::ranges::all_of(wishes.spread,
                             [&](const SpreadConstraint& each) {
                               return find_label(room.node.labels, each.topology_key).has_value();
                             }) &&
         (!constraint.honors_affinity || matches_required_nodes(wishes, room.node)) &&
         (!constraint.honors_taints || bears_taints(wishes, room.node));
}

Spread::Count Spread::count(const SpreadConstraint& constraint) const {
  Count out;
  for (const Room* room : cluster_.nodes()) {
    if (!counts(*room, constraint)) continue;
    out.pods[cluster_.domain_of(*room, constraint.topology_key)] += std::ranges::count_if(
        room->pods, [&](const Pod* other) { return is_counted(constraint, pod_, *other); });
  }
  const bool enough_domains = static_cast<std::int64_t>(out.pods.size()) >= constraint.min_domains;
  if (!out.pods.empty() && enough_domains)
    out.least = std::ranges::min(std::views::values(out.pods));
  return out;
}

Spread::Answer Spread::check(const Room& room) const {
  const auto& constraints = pod_.wishes.spread;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Domain* const domain = cluster_.domain_of(room, constraints[i].topology_key);
    if (domain == nullptr) return Answer::kOutside;
    const auto at = counted_[i].pods.find(domain);
    const std::int64_t there = at == counted_[i].pods.end() ? 0 : at->second;
    const std::int64_t own = is_counted(constraints[i], pod_, pod_) ? 1 : 0;
    if (there + own - counted_[i].least > constraints[i].max_skew) return Answer::kTooMany;
  }
  return Answer::kFits;
}

}  // namespace muster::scheduler
