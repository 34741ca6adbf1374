#include "controllers/jobset/child.h"

#include <algorithm>

#include "api/values/interval_set.h"
#include "base/number.h"
#include "controllers/jobset/barrier.h"
#include "controllers/jobset/master_port.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Value;

std::int32_t int32(Value value, std::int32_t otherwise = 0) {
  return value.is_number() ? static_cast<std::int32_t>(value.as_int()) : otherwise;
}

LabelNumber label_number(Value labels, std::string_view key) {
  const Value value = labels.get(key);
  return {.present = value.is_string(), .value = parse_number<std::int32_t>(value.as_string())};
}

void read_conditions(Value conditions, Child& child) {
  // A Job that has only been doomed to fail (FailureTarget) still has pods.
  for (const Value condition : conditions.items()) {
    const std::string_view type = condition.get("type").as_string();
    if (condition.get("status").as_string() != "True") continue;
    if (type == api::kWaitingCondition) child.held_back = condition.get("message").as_string();
    if (type == "Complete") {
      child.end = Child::End::kComplete;
      return;
    }
    if (type != "Failed") continue;
    child.end = Child::End::kFailed;
    child.failure_time = parse_time(condition.get("lastTransitionTime").as_string());
    child.failure_reason = condition.get("reason").as_string();
    child.failure_message = condition.get("message").as_string();
    return;
  }
}

// The label names the coordinator's pod: <Job>-<pod index>.<subdomain>.
std::optional<std::int64_t> coordinator_index(std::string_view job, std::string_view endpoint) {
  if (!endpoint.starts_with(job) || !endpoint.substr(job.size()).starts_with('-')) return {};
  const std::string_view index = endpoint.substr(job.size() + 1);
  return parse_number<std::int64_t>(index.substr(0, index.find('.')));
}

bool has_index(std::string_view indexes, std::int64_t completions, std::int64_t wanted) {
  const auto set = api::IntervalSet::parse_strictly(indexes, completions);
  return set && set->contains(wanted);
}

bool has_ended_coordinator(const Child& child, std::string_view endpoint, Value status) {
  const auto index = coordinator_index(child.name, endpoint);
  if (!index) return false;
  return child.end == Child::End::kComplete || has_index(status.get("completedIndexes").as_string(),
                                                         child.completions.value_or(0), *index);
}

}  // namespace

Child read_child(Value job) {
  const Value metadata = job.get("metadata"), spec = job.get("spec"), status = job.get("status");
  const Value labels = metadata.get("labels");
  Child out;
  out.ns = metadata.get("namespace").as_string();
  out.name = metadata.get("name").as_string();
  out.uid = metadata.get("uid").as_string();
  out.resource_version = metadata.get("resourceVersion").as_string();
  out.terminating = metadata.get("deletionTimestamp").is_string();
  if (const Value name = labels.get(label::kReplicatedJobName); name.is_string()) {
    out.replicated_job = name.as_string();
  }
  out.job_index = label_number(labels, label::kJobIndex);
  out.restart_attempt = label_number(labels, label::kRestartAttempt);
  out.job_restart_attempt = label_number(labels, label::kJobRestartAttempt);
  out.barrier_attempt = attempt_of_barrier(
      spec.get({"template", "metadata", "annotations", annotation::kBarrier}).as_string());
  out.master_port = label_number(metadata.get("annotations"), kMasterPort).value;
  out.template_digest = metadata.get({"annotations", kTemplateDigest}).as_string();
  out.suspend = spec.get("suspend").as_bool();
  out.parallelism = int32(spec.get("parallelism"), 1);
  if (const Value completions = spec.get("completions"); completions.is_number()) {
    out.completions = int32(completions);
  }
  if (out.suspend) {
    for (const auto& member : spec.get({"template", "spec", "nodeSelector"}).members()) {
      out.node_selector_keys.emplace_back(member.key);
    }
  }
  out.active = int32(status.get("active"));
  out.ready = int32(status.get("ready"));
  const std::size_t uncounted = status.get({"uncountedTerminatedPods", "succeeded"}).size();
  out.succeeded = status.get("succeeded").as_int() + static_cast<std::int64_t>(uncounted);
  out.has_start_time = status.get("startTime").is_string();
  read_conditions(status.get("conditions"), out);
  out.coordinator_ended =
      has_ended_coordinator(out, labels.get(label::kCoordinator).as_string(), status);
  return out;
}

}  // namespace muster::controllers::jobset
