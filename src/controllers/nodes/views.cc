#include "controllers/nodes/views.h"

#include "api/views/pod_phase.h"

namespace muster::controllers::nodes {
namespace {

using json::Value;

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

Taint read_taint(Value taint) {
  return {.taint = {text(taint, "key"), text(taint, "value"), text(taint, "effect")},
          .added = parse_time(taint.get("timeAdded").as_string())};
}

}  // namespace

Node read_node(Value object) {
  const Value spec = object.get("spec");
  const Value conditions = object.get({"status", "conditions"});
  Node out{.ref = ref_of(object, "v1", "Node"),
           .unschedulable = spec.get("unschedulable").as_bool(),
           .taints = {},
           .conditions = api::read_conditions(conditions),
           .heartbeat = {}};
  for (const Value taint : spec.get("taints").items()) out.taints.push_back(read_taint(taint));
  for (const Value condition : conditions.items())
    if (condition.get("type").as_string() == "Ready")
      out.heartbeat = text(condition, "lastHeartbeatTime");
  return out;
}

Lease read_lease(Value object) {
  const Value spec = object.get("spec");
  return {.renewed = text(spec, "renewTime"),
          .duration = std::chrono::seconds(spec.get("leaseDurationSeconds").as_int())};
}

Pod read_pod(const store::Object& pod, Value content) {
  const api::Meta& meta = pod.meta();
  ObjectRef ref = ref_of(meta, "v1", "Pod");
  ref.resource_version.clear();  // what is written holds for its newest version too
  const Value status = content.get("status");
  Pod out{.ref = std::move(ref),
          .generation = meta.generation,
          .node = text(content.get("spec"), "nodeName"),
          .created = meta.creation_time.value_or(Time{}),
          .deleting = meta.deletion_time.has_value(),
          .ended = api::is_end_phase(status.get("phase").as_string()),
          .tolerations = api::read_tolerations(content.get({"spec", "tolerations"})),
          .ready_since = {}};
  const api::Conditions conditions = api::read_conditions(status.get("conditions"));
  if (const auto* ready = api::find_condition(conditions, "Ready"); ready && ready->is_true)
    out.ready_since = ready->last_transition_time.value_or(Time{});
  return out;
}

}  // namespace muster::controllers::nodes
