// Kueue's ClusterQueue, v1beta1 and v1beta2 (spec: queueing 1.1).
#include "api/versions/conversion.h"

namespace muster::api {
namespace {

using json::Value;

void cluster_queue_to_storage(Value queue) {
  const Value spec = queue.get("spec");
  if (!spec.is_object()) return;
  rename_member(spec, "cohort", "cohortName");
  if (const Value checks = spec.get("admissionChecks"); checks.is_array()) {
    const Value listed = spec.object_at("admissionChecksStrategy").array_at("admissionChecks");
    for (const Value name : checks.items()) {
      const Value entry = Value::object(spec.arena(), 1);
      entry.set("name", name.as_string());
      listed.push_back(entry);
    }
    spec.erase("admissionChecks");
  }
  const Value fungibility = spec.get("flavorFungibility");
  for (const json::Member& member : fungibility.members()) {
    const std::string_view value = member.value.as_string();
    if (value == "Borrow" || value == "Preempt") fungibility.set(member.key, "MayStopSearch");
  }
  if (const Value status = queue.get("status"); status.is_object())
    status.erase("pendingWorkloadsStatus");
}

void cluster_queue_from_storage(Value queue) {
  const Value spec = queue.get("spec");
  if (!spec.is_object()) return;
  rename_member(spec, "cohortName", "cohort");
  const Value fungibility = spec.get("flavorFungibility");
  for (const json::Member& member : fungibility.members()) {
    if (member.value.as_string() != "MayStopSearch") continue;
    fungibility.set(member.key, member.key == "whenCanBorrow" ? "Borrow" : "Preempt");
  }
}

}  // namespace

constinit const Conversion kClusterQueueV1beta1 = {.group = "kueue.x-k8s.io",
                                                   .kind = "ClusterQueue",
                                                   .version = "v1beta1",
                                                   .to_storage = cluster_queue_to_storage,
                                                   .from_storage = cluster_queue_from_storage};

}  // namespace muster::api
