#include "controllers/runtime/pod_conditions.h"

#include "controllers/runtime/writes.h"

namespace muster::controllers {

using json::Value;

Value disruption_target(json::Arena& arena, std::string_view reason, std::string_view message,
                        Time now) {
  Value condition = Value::object(arena);
  condition.set("type", "DisruptionTarget");
  condition.set("status", "True");
  condition.set("reason", reason);
  condition.set("message", message);
  condition.set("lastTransitionTime", format_time(now));
  return condition;
}

client::Operation patch_condition(const api::Resource& pods, const ObjectRef& pod,
                                  Value condition) {
  const Value change = Value::object(condition.arena());
  change.object_at("status").array_at("conditions").push_back(condition);
  client::Operation operation = patch(pods, pod, change, "status");
  operation.patch_type = client::PatchType::kStrategic;
  return operation;
}

}  // namespace muster::controllers
