#include "server/convert.h"

#include <array>
#include <utility>

namespace muster::server {
namespace {

struct Rename {
  std::string_view served;
  std::string_view stored;
};

// An events.k8s.io Event is a core Event under other names.
constexpr std::array<Rename, 7> kEventRenames{{{"reportingController", "reportingComponent"},
                                               {"regarding", "involvedObject"},
                                               {"note", "message"},
                                               {"deprecatedSource", "source"},
                                               {"deprecatedFirstTimestamp", "firstTimestamp"},
                                               {"deprecatedLastTimestamp", "lastTimestamp"},
                                               {"deprecatedCount", "count"}}};

void rename(json::Value object, std::string_view from, std::string_view to) {
  const json::Value* value = object.find(from);
  if (value == nullptr) return;
  const json::Value moved = *value;
  object.erase(from);
  object.set(to, moved);
}

constexpr std::string_view kWorkloadPriority = "kueue.x-k8s.io/workloadpriorityclass";
constexpr std::string_view kPodPriority = "scheduling.k8s.io/priorityclass";

// --- Kueue v1beta1 to v1beta2 (spec: queueing 1.1) ---

void cluster_queue_to_storage(json::Value object) {
  const json::Value spec = object.get("spec");
  if (!spec.is_object()) return;
  rename(spec, "cohort", "cohortName");
  if (const json::Value checks = spec.get("admissionChecks"); checks.is_array()) {
    const json::Value listed =
        spec.object_at("admissionChecksStrategy").array_at("admissionChecks");
    for (const json::Value name : checks.items()) {
      const json::Value entry = json::Value::object(spec.arena(), 1);
      entry.set("name", name.as_string());
      listed.push_back(entry);
    }
    spec.erase("admissionChecks");
  }
  const json::Value fungibility = spec.get("flavorFungibility");
  for (const json::Member& member : fungibility.members()) {
    const std::string_view value = member.value.as_string();
    if (value == "Borrow" || value == "Preempt") fungibility.set(member.key, "MayStopSearch");
  }
  if (const json::Value status = object.get("status"); status.is_object())
    status.erase("pendingWorkloadsStatus");
}

void cluster_queue_from_storage(json::Value object) {
  const json::Value spec = object.get("spec");
  if (!spec.is_object()) return;
  rename(spec, "cohortName", "cohort");
  const json::Value fungibility = spec.get("flavorFungibility");
  for (const json::Member& member : fungibility.members()) {
    if (member.value.as_string() != "MayStopSearch") continue;
    fungibility.set(member.key, member.key == "whenCanBorrow" ? "Borrow" : "Preempt");
  }
}

void workload_to_storage(json::Value object) {
  if (const json::Value status = object.get("status"); status.is_object()) {
    rename(status, "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds");
  }
  const json::Value spec = object.get("spec");
  if (!spec.is_object()) return;
  const json::Value name = spec.get("priorityClassName");
  const std::string_view source = spec.get("priorityClassSource").as_string();
  spec.erase("priorityClassName");
  spec.erase("priorityClassSource");
  if (name.as_string().empty() || source.empty()) return;
  const bool pods = source == kPodPriority;
  const json::Value reference = spec.object_at("priorityClassRef");
  reference.set("group", pods ? "scheduling.k8s.io" : "kueue.x-k8s.io");
  reference.set("kind", pods ? "PriorityClass" : "WorkloadPriorityClass");
  reference.set("name", name);
}

void workload_from_storage(json::Value object) {
  if (const json::Value status = object.get("status"); status.is_object()) {
    rename(status, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds");
  }
  const json::Value spec = object.get("spec");
  const json::Value reference = spec.get("priorityClassRef");
  if (!reference.is_object()) return;
  spec.set("priorityClassName", reference.get("name"));
  spec.set("priorityClassSource", reference.get("group").as_string() == "scheduling.k8s.io"
                                      ? kPodPriority
                                      : kWorkloadPriority);
  spec.erase("priorityClassRef");
}

void local_queue(json::Value object, std::string_view from, std::string_view to) {
  if (const json::Value status = object.get("status"); status.is_object()) rename(status, from, to);
}

}  // namespace

void to_storage(json::Value object, const api::Resource& resource) {
  if (resource.storage == &resource) return;
  object.set("apiVersion", resource.storage->gvk.api_version());
  object.set("kind", resource.storage->gvk.kind);
  const std::string& kind = resource.gvk.kind;
  if (kind == "Event") {
    for (const Rename& names : kEventRenames) rename(object, names.served, names.stored);
  } else if (kind == "ClusterQueue") {
    cluster_queue_to_storage(object);
  } else if (kind == "Workload") {
    workload_to_storage(object);
  } else if (kind == "LocalQueue") {
    local_queue(object, "flavorUsage", "flavorsUsage");
  }
}

void from_storage(json::Value object, const api::Resource& resource) {
  if (resource.storage == &resource) return;
  object.set("apiVersion", resource.gvk.api_version());
  object.set("kind", resource.gvk.kind);
  const std::string& kind = resource.gvk.kind;
  if (kind == "Event") {
    for (const Rename& names : kEventRenames) rename(object, names.stored, names.served);
  } else if (kind == "ClusterQueue") {
    cluster_queue_from_storage(object);
  } else if (kind == "Workload") {
    workload_from_storage(object);
  } else if (kind == "LocalQueue") {
    local_queue(object, "flavorsUsage", "flavorUsage");
  }
}

}  // namespace muster::server
