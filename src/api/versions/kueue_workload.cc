// Kueue's Workload, v1beta1 and v1beta2 (spec: queueing 1.1).
#include "api/versions/conversion.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kWorkloadPriority = "kueue.x-k8s.io/workloadpriorityclass";
constexpr std::string_view kPodPriority = "scheduling.k8s.io/priorityclass";
// As v1beta1 spells it.
constexpr std::string_view kPastExecutionTime = "accumulatedPastExexcutionTimeSeconds";
constexpr std::string_view kStoredPastExecutionTime = "accumulatedPastExecutionTimeSeconds";

void kueue_workload_to_storage(Value workload) {
  if (const Value status = workload.get("status"); status.is_object())
    rename_member(status, kPastExecutionTime, kStoredPastExecutionTime);
  const Value spec = workload.get("spec");
  if (!spec.is_object()) return;
  const Value name = spec.get("priorityClassName");
  const std::string_view source = spec.get("priorityClassSource").as_string();
  spec.erase("priorityClassName");
  spec.erase("priorityClassSource");
  if (name.as_string().empty() || source.empty()) return;
  const bool pods = source == kPodPriority;
  const Value reference = spec.object_at("priorityClassRef");
  reference.set("group", pods ? "scheduling.k8s.io" : "kueue.x-k8s.io");
  reference.set("kind", pods ? "PriorityClass" : "WorkloadPriorityClass");
  reference.set("name", name);
}

void kueue_workload_from_storage(Value workload) {
  if (const Value status = workload.get("status"); status.is_object())
    rename_member(status, kStoredPastExecutionTime, kPastExecutionTime);
  const Value spec = workload.get("spec");
  const Value reference = spec.get("priorityClassRef");
  if (!reference.is_object()) return;
  spec.set("priorityClassName", reference.get("name"));
  spec.set("priorityClassSource", reference.get("group").as_string() == "scheduling.k8s.io"
                                      ? kPodPriority
                                      : kWorkloadPriority);
  spec.erase("priorityClassRef");
}

}  // namespace

constinit const Conversion kKueueWorkloadV1beta1 = {.group = "kueue.x-k8s.io",
                                                    .kind = "Workload",
                                                    .version = "v1beta1",
                                                    .to_storage = kueue_workload_to_storage,
                                                    .from_storage = kueue_workload_from_storage};

}  // namespace muster::api
