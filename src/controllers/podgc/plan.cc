#include "controllers/podgc/plan.h"

#include <algorithm>
#include <tuple>

#include "api/views/views.h"
#include "controllers/runtime/pod_conditions.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::podgc {
namespace {

using json::Value;

constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

bool may_go_on(const Pod& pod) {
  return pod.phase == "Pending" || pod.phase == "Running" || pod.phase == "Unknown";
}

// The excess of ended pods: evicted ones first, then the oldest, then by name.
std::vector<const Pod*> excess(const Observed& observed) {
  std::vector<const Pod*> ended;
  for (const Pod* pod : observed.pods) {
    if (!may_go_on(*pod)) ended.push_back(pod);
  }
  const auto keep = static_cast<std::size_t>(std::max(observed.threshold, 0));
  if (keep == 0 || ended.size() <= keep) return {};
  std::ranges::sort(ended, {}, [](const Pod* pod) {
    return std::tuple(pod->reason != "Evicted", pod->created, pod->ref.ns, pod->ref.name);
  });
  ended.resize(ended.size() - keep);
  return ended;
}

bool is_on_dead_node(const Observed& observed, const Pod& pod) {
  const auto node = observed.nodes.find(pod.node);
  return pod.deleting && node != observed.nodes.end() && !node->second.ready &&
         node->second.out_of_service;
}

Value failed_status(json::Arena& arena, const Doomed& doomed, Time now) {
  Value status = Value::object(arena);
  status.set("phase", "Failed");
  if (doomed.pod->generation > 0)
    status.set("observedGeneration", Value::of(doomed.pod->generation));
  if (!doomed.disrupted) return status;
  const Value condition =
      disruption_target(arena, "DeletionByPodGC", "PodGC: node no longer exists", now);
  if (doomed.pod->generation > 0)
    condition.set("observedGeneration", Value::of(doomed.pod->generation));
  status.array_at("conditions").push_back(condition);
  return status;
}

}  // namespace

Pod read_pod(const store::Object& pod, Value content) {
  const api::Meta& meta = pod.meta();
  ObjectRef ref = ref_of(meta, "v1", "Pod");
  ref.resource_version.clear();  // it goes whatever its newest version says
  return {.ref = std::move(ref),
          .phase = std::string(content.get({"status", "phase"}).as_string()),
          .reason = std::string(content.get({"status", "reason"}).as_string()),
          .node = std::string(content.get({"spec", "nodeName"}).as_string()),
          .deleting = meta.deletion_time.has_value(),
          .created = meta.creation_time.value_or(Time{}),
          .generation = meta.generation};
}

Node read_node(Value object) {
  const api::Node node = api::read_node(object);
  return {.ready = node.is_ready(),
          .out_of_service = std::ranges::any_of(
              node.taints, [](const api::Taint& taint) { return taint.key == kOutOfService; })};
}

std::vector<Doomed> choose(const Observed& observed) {
  std::vector<Doomed> doomed;
  std::set<const Pod*> seen;
  const auto add = [&](const Pod* pod, std::string why, bool disrupted = false) {
    if (seen.insert(pod).second)
      doomed.push_back({.pod = pod, .disrupted = disrupted, .why = std::move(why)});
  };
  for (const Pod* pod : excess(observed)) add(pod, "too many ended pods are kept");
  for (const Pod* pod : observed.pods) {
    if (is_on_dead_node(observed, *pod)) add(pod, "its node is out of service");
  }
  for (const Pod* pod : observed.pods) {
    if (!pod->node.empty() && observed.lost_nodes.contains(pod->node))
      add(pod, "its node no longer exists", true);
  }
  for (const Pod* pod : observed.pods) {
    if (pod->deleting && pod->node.empty()) add(pod, "it is being deleted and never had a node");
  }
  return doomed;
}

Plan plan(const api::Resource& pods, const Doomed& doomed, Time now) {
  Plan plan;
  plan.reason = doomed.why;
  if (!doomed.pod->has_ended()) {
    json::Arena arena;
    Value change = Value::object(arena);
    change.set("status", failed_status(arena, doomed, now));
    client::Operation write = patch(pods, doomed.pod->ref, change, "status");
    write.patch_type = client::PatchType::kStrategic;  // other conditions stay as they are
    plan.then({.operation = std::move(write)});
  }
  plan.then({.operation = remove_at_once(pods, doomed.pod->ref)});
  return plan;
}

}  // namespace muster::controllers::podgc
