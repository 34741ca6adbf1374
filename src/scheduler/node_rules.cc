#include "scheduler/node_rules.h"

#include <algorithm>

namespace muster::scheduler {

// A cordon counts as the taint that stands for it.
bool bears_cordon(const Wishes& wishes, const Node& node) {
  if (!node.unschedulable) return true;
  const api::Taint cordon{
      .key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"};
  return api::find_toleration(wishes.tolerations, cordon) != nullptr;
}

bool bears_taints(const Wishes& wishes, const Node& node) {
  return std::ranges::all_of(node.taints, [&](const api::Taint& taint) {
    const bool keeps_out = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    return !keeps_out || api::find_toleration(wishes.tolerations, taint) != nullptr;
  });
}

bool matches_required_nodes(const Wishes& wishes, const Node& node) {
  const bool selected = std::ranges::all_of(wishes.node_selector, [&](const auto& wanted) {
    return find_label(node.labels, wanted.first) == wanted.second;
  });
  if (!selected || !wishes.required_nodes) return selected;
  return std::ranges::any_of(*wishes.required_nodes,
                             [&](const NodeTerm& term) { return term.matches(node); });
}

}  // namespace muster::scheduler
