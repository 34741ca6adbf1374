#include "controllers/nodes/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "controllers/runtime/pod_conditions.h"
#include "controllers/runtime/spans.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::nodes {
namespace {

using json::Value;

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kCordoned = "node.kubernetes.io/unschedulable";
constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kNoExecute = "NoExecute";

struct ConditionTaint {
  std::string_view condition;
  std::string_view status;
  std::string_view taint;
};
constexpr auto kConditionTaints = std::to_array<ConditionTaint>({
    {"Ready", "False", kNotReady},
    {"Ready", "Unknown", kUnreachable},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
});

// What the agent says of its node; without the agent nobody knows.
constexpr auto kReported =
    std::to_array<std::string_view>({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"});

using Wanted = std::vector<api::Taint>;

Wanted wanted_taints(const Node& node, bool any_ready) {
  Wanted out;
  for (const api::Condition& condition : node.conditions) {
    for (const ConditionTaint& rule : kConditionTaints) {
      if (rule.condition != condition.type || rule.status != condition.status) continue;
      out.push_back({std::string(rule.taint), "", std::string(kNoSchedule)});
      if (rule.condition == "Ready" && any_ready)
        out.push_back({std::string(rule.taint), "", std::string(kNoExecute)});
    }
  }
  if (node.unschedulable) out.push_back({std::string(kCordoned), "", std::string(kNoSchedule)});
  return out;
}

// Taints that follow conditions, and are not somebody's own.
bool is_ours(const api::Taint& taint) {
  if (taint.effect == kNoExecute) return taint.key == kNotReady || taint.key == kUnreachable;
  return taint.effect == kNoSchedule &&
         (taint.key == kCordoned ||
          std::ranges::find(kConditionTaints, taint.key, &ConditionTaint::taint) !=
              kConditionTaints.end());
}

// Those that stay as they are, then the new ones.
std::vector<Taint> next_taints(const Node& node, bool any_ready, Time now) {
  Wanted missing = wanted_taints(node, any_ready);
  std::vector<Taint> out;
  for (const Taint& each : node.taints) {
    const auto same = std::ranges::find_if(missing, [&](const api::Taint& wanted) {
      return wanted.key == each.taint.key && wanted.effect == each.taint.effect;
    });
    if (is_ours(each.taint) && same == missing.end()) continue;
    if (same != missing.end()) missing.erase(same);
    out.push_back(each);
  }
  for (api::Taint& taint : missing) out.push_back({.taint = std::move(taint), .added = now});
  return out;
}

client::Operation taint_patch(const api::Resource& nodes, const Node& node,
                              std::span<const Taint> taints) {
  json::Arena arena;
  const Value change = Value::object(arena);
  const Value list = Value::array(arena);
  for (const Taint& each : taints) {
    const Value taint = Value::object(arena);
    taint.set("key", each.taint.key);
    if (!each.taint.value.empty()) taint.set("value", each.taint.value);
    taint.set("effect", each.taint.effect);
    if (each.added) taint.set("timeAdded", format_time(*each.added));
    list.push_back(taint);
  }
  change.object_at("spec").set("taints", list);
  return patch(nodes, node.ref, change);  // of this very version: somebody may add a taint now
}

Value unknown_condition(json::Arena& arena, std::string_view type, bool was_reported, Time now) {
  const Value out = Value::object(arena);
  out.set("type", type);
  out.set("status", "Unknown");
  out.set("reason", was_reported ? "NodeStatusUnknown" : "NodeStatusNeverUpdated");
  out.set("message", was_reported ? "Kubelet stopped posting node status."
                                  : "Kubelet never posted node status.");
  out.set("lastTransitionTime", format_time(now));
  return out;
}

Plan declare_lost(const api::Resource& nodes, const Node& node, Time now) {
  json::Arena arena;
  const Value change = Value::object(arena);
  const Value conditions = change.object_at("status").array_at("conditions");
  for (const std::string_view type : kReported) {
    const api::Condition* const condition = api::find_condition(node.conditions, type);
    if (condition != nullptr && condition->status == "Unknown") continue;
    conditions.push_back(unknown_condition(arena, type, condition != nullptr, now));
  }
  client::Operation write = patch(nodes, node.ref, change, "status");
  write.patch_type = client::PatchType::kStrategic;  // by type; heartbeat times stay
  Plan plan;
  plan.reason = "no sign of life";
  plan.then({.operation = std::move(write)});
  return plan;
}

client::Operation condition_patch(const api::Resource& pods, const Pod& pod, Value condition) {
  if (pod.generation > 0) condition.set("observedGeneration", Value::of(pod.generation));
  return patch_condition(pods, pod.ref, condition);
}

client::Operation mark_unready(const api::Resource& pods, const Pod& pod, Time now) {
  json::Arena arena;
  const Value condition = Value::object(arena);
  condition.set("type", "Ready");
  condition.set("status", "False");
  condition.set("lastTransitionTime", format_time(now));
  return condition_patch(pods, pod, condition);
}

client::Operation mark_disrupted(const api::Resource& pods, const Pod& pod, Time now) {
  json::Arena arena;
  return condition_patch(pods, pod,
                         disruption_target(arena, "DeletionByTaintManager",
                                           "Taint manager: deleting due to NoExecute taint", now));
}

void evict(Plan& plan, const api::Resource& pods, const Pod& pod, Time now) {
  plan.reason = "its node has a taint that it does not bear";
  plan.then({.operation = mark_disrupted(pods, pod, now)});
  plan.then({.operation = remove(pods, pod.ref, Propagation::kBackground),
             .when_done = Event{.regarding = pod.ref,
                                .reason = "TaintManagerEviction",
                                .message = fmt::format("Marking for deletion Pod {}/{}", pod.ref.ns,
                                                       pod.ref.name)}});
}

// A pod that became ready after its node was lost has somebody who cares for it.
bool was_ready_before(const Pod& pod, const api::Condition& node_ready) {
  return pod.ready_since && *pod.ready_since <= node_ready.last_transition_time.value_or(Time{});
}

}  // namespace

void SignsOfLife::saw(const Node& node, Duration moment) {
  if (node.heartbeat == heartbeat_) return;
  heartbeat_ = node.heartbeat;
  last_ = moment;
}

void SignsOfLife::saw(const Lease& lease, Duration moment) {
  grace_ = std::max(kGrace, lease.duration);
  if (std::exchange(has_lease_, true) && lease.renewed == renewed_) return;
  renewed_ = lease.renewed;
  last_ = moment;
}

Plan plan_node(const api::Resource& nodes, const Node& node, const NodeFacts& facts, Time now) {
  const bool is_declared = node.ready() != nullptr && node.ready()->status == "Unknown";
  if (facts.lost && !is_declared) {
    Plan plan = declare_lost(nodes, node, now);
    if (node.is_ready()) {
      plan.events.push_back(
          {.regarding = node.ref,
           .reason = "NodeNotReady",
           .message = fmt::format("Node {} status is now: NodeNotReady", node.ref.name)});
    }
    return plan;  // taints follow what the node's conditions say then
  }
  if (node.ready() == nullptr) return {};
  const std::vector<Taint> taints = next_taints(node, facts.any_ready, now);
  if (taints == node.taints) return {};
  Plan plan;
  plan.reason = "taints follow the node's conditions";
  plan.then({.operation = taint_patch(nodes, node, taints)});
  return plan;
}

std::optional<Duration> eviction_moment(const Pod& pod, const PodFacts& facts) {
  std::optional<Duration> earliest;
  for (const SeenTaint& each : facts.taints) {
    const api::Taint& taint = each.taint.taint;
    if (taint.effect != kNoExecute) continue;
    const api::Toleration* const toleration = api::find_toleration(pod.tolerations, taint);
    if (toleration != nullptr && !toleration->seconds) continue;
    const std::int64_t seconds =
        toleration == nullptr ? 0 : std::max<std::int64_t>(*toleration->seconds, 0);
    const Duration end = std::max(each.since, facts.since) + span_of(seconds);
    earliest = std::min(earliest.value_or(end), end);
  }
  return earliest;
}

Plan plan_pod(const api::Resource& pods, const Pod& pod, const Node& node, const PodFacts& facts,
              Time now) {
  Plan plan;
  if (pod.ended) return plan;
  if (node.is_unready() && was_ready_before(pod, *node.ready())) {
    plan.reason = "its node is not ready";
    plan.then({.operation = mark_unready(pods, pod, now),
               .when_done = Event{.regarding = pod.ref,
                                  .warning = true,
                                  .reason = "NodeNotReady",
                                  .message = "Node is not ready"}});
  }
  if (pod.deleting) return plan;
  const std::optional<Duration> end = eviction_moment(pod, facts);
  if (end && *end <= facts.moment) {
    evict(plan, pods, pod, now);
  } else if (end) {
    plan.look_again = *end - facts.moment;
  }
  return plan;
}

}  // namespace muster::controllers::nodes
