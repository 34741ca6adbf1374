#include "controllers/jobset/status_draft.h"

#include <algorithm>

#include "api/views/job_set_names.h"
#include "controllers/jobset/names.h"
#include "controllers/jobset/sequence.h"
#include "json/value.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

constexpr std::string_view kInProgress = "StartupPolicyInProgress";
constexpr std::string_view kCompleted = "StartupPolicyCompleted";

std::string_view opposite(std::string_view type) {
  if (type == kInProgress) return kCompleted;
  if (type == kCompleted) return kInProgress;
  return {};
}

void set_status(api::Condition& condition, bool is_true) {
  condition.is_true = is_true;
  condition.status = is_true ? "True" : "False";
}

Value list(Arena& arena, const std::vector<std::int32_t>& numbers) {
  Value out = Value::array(arena, numbers.size());
  for (const std::int32_t number : numbers) out.push_back(Value::of(number));
  return out;
}

Value written(Arena& arena, const api::Condition& condition) {
  Value out = Value::object(arena, 6);
  // Required by the definition: a condition without one was never stored.
  out.set("lastTransitionTime", format_time(condition.last_transition_time.value_or(Time{})));
  out.set("message", condition.message);
  if (condition.observed_generation) {
    out.set("observedGeneration", Value::of(*condition.observed_generation));
  }
  out.set("reason", condition.reason);
  out.set("status", condition.status);
  out.set("type", condition.type);
  return out;
}

Value written(Arena& arena, const api::ReplicatedJobStatus& status) {
  Value out = Value::object(arena, 8);
  out.set("active", Value::of(status.active));
  out.set("failed", Value::of(status.failed));
  if (!status.job_restarts.empty()) out.set("jobRestarts", list(arena, status.job_restarts));
  if (!status.job_restarts_count_towards_max.empty()) {
    out.set("jobRestartsCountTowardsMax", list(arena, status.job_restarts_count_towards_max));
  }
  out.set("name", status.name);
  out.set("ready", Value::of(status.ready));
  out.set("succeeded", Value::of(status.succeeded));
  out.set("suspended", Value::of(status.suspended));
  return out;
}

template <class Item>
Value written(Arena& arena, const std::vector<Item>& items) {
  if (items.empty()) return {};
  Value out = Value::array(arena, items.size());
  for (const Item& item : items) out.push_back(written(arena, item));
  return out;
}

api::JobSetStatus without_counts(api::JobSetStatus status) {
  for (api::ReplicatedJobStatus& job : status.replicated_jobs)
    job.ready = job.succeeded = job.failed = job.active = job.suspended = 0;
  std::erase_if(status.conditions,
                [](const auto& each) { return each.type == api::kWaitingCondition; });
  return status;
}

}  // namespace

ObjectRef ref_of(const api::JobSet& set) {
  return controllers::ref_of(set.meta, kApiVersion, kKind);
}

bool StatusDraft::only_counts_changed() const {
  return is_changed() && without_counts(status_) == without_counts(set_.status);
}

// In progress and completed exclude each other. Clients have always seen the other one's reason,
// message and time stay as they were.
bool StatusDraft::exclude(std::string_view type) {
  for (api::Condition& condition : status_.conditions) {
    if (condition.type != opposite(type) || !condition.is_true) continue;
    set_status(condition, false);
    return true;
  }
  return false;
}

void StatusDraft::set_condition(const NewCondition& wanted) {
  bool changed = wanted.is_true && exclude(wanted.type);
  const auto found = std::ranges::find(status_.conditions, wanted.type, &api::Condition::type);
  if (found == status_.conditions.end()) {
    if (!wanted.is_true) return;  // there is nothing to take back
    api::Condition& added = status_.conditions.emplace_back();
    added.type = wanted.type;
    added.last_transition_time = now_;
    changed = true;
  } else if (found->is_true != wanted.is_true) {
    found->last_transition_time = now_;
    changed = true;
  } else {
    changed = changed || found->reason != wanted.reason || found->message != wanted.message;
  }
  if (!changed) return;
  api::Condition& condition =
      *std::ranges::find(status_.conditions, wanted.type, &api::Condition::type);
  set_status(condition, wanted.is_true);
  condition.reason = wanted.reason;
  condition.message = wanted.message;
  tell(wanted.warning, wanted.reason, std::string(wanted.message));
}

void StatusDraft::set_or_remove(std::string_view type,
                                const std::optional<api::Condition>& wanted) {
  const auto found = std::ranges::find(status_.conditions, type, &api::Condition::type);
  if (!wanted) {
    if (found != status_.conditions.end()) status_.conditions.erase(found);
    return;
  }
  api::Condition& condition =
      found == status_.conditions.end() ? status_.conditions.emplace_back() : *found;
  const auto since = condition.last_transition_time;
  condition = *wanted;
  condition.type = type;
  set_status(condition, true);
  condition.last_transition_time = since ? since : now_;
}

void StatusDraft::tell(bool warning, std::string_view reason, std::string message) {
  events_.push_back({.regarding = ref_of(set_),
                     .warning = warning,
                     .reason = std::string(reason),
                     .message = std::move(message)});
}

Value status_patch(Arena& arena, const api::JobSetStatus& before, const api::JobSetStatus& after) {
  Value body = Value::object(arena);
  Value status = body.object_at("status");
  if (before.conditions != after.conditions)
    status.set("conditions", written(arena, after.conditions));
  if (before.replicated_jobs != after.replicated_jobs)
    status.set("replicatedJobsStatus", written(arena, after.replicated_jobs));
  // Always: readers rely on a number being there from the first write on.
  status.set("restarts", Value::of(after.restarts));
  if (before.restarts_count_towards_max != after.restarts_count_towards_max)
    status.set("restartsCountTowardsMax", Value::of(after.restarts_count_towards_max));
  if (before.terminal_state != after.terminal_state)
    status.set("terminalState", after.terminal_state);
  return body;
}

}  // namespace muster::controllers::jobset
