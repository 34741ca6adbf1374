#include "controllers/job/job_view.h"

#include <algorithm>

#include "api/views/job_set_names.h"
#include "controllers/job/names.h"
#include "controllers/runtime/spans.h"
#include "json/write.h"

namespace muster::controllers::job {
namespace {

using json::Value;

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

template <class Number>
std::optional<Number> number(Value object, std::string_view key) {
  const Value value = object.get(key);
  if (!value.is_number()) return std::nullopt;
  return Number(static_cast<std::int32_t>(value.as_int()));
}

std::vector<std::string> texts(Value list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

Job::Mode mode_of(std::string_view word) {
  if (word.empty() || word == "NonIndexed") return Job::Mode::kNonIndexed;
  return word == "Indexed" ? Job::Mode::kIndexed : Job::Mode::kUnknown;
}

std::optional<FailureAction> action_of(std::string_view word) {
  if (word == "Ignore") return FailureAction::kIgnore;
  if (word == "Count") return FailureAction::kCount;
  if (word == "FailIndex") return FailureAction::kFailIndex;
  if (word == "FailJob") return FailureAction::kFailJob;
  return std::nullopt;
}

PodFailureRule read_failure_rule(Value rule) {
  PodFailureRule out;
  out.action = action_of(rule.get("action").as_string());
  if (const Value codes = rule.get("onExitCodes"); codes.is_object()) {
    auto& exit_codes = out.exit_codes.emplace();
    exit_codes.container = text(codes, "containerName");
    const std::string_view word = codes.get("operator").as_string();
    if (word == "In" || word == "NotIn") exit_codes.in = word == "In";
    for (const Value value : codes.get("values").items())
      exit_codes.values.push_back(static_cast<std::int32_t>(value.as_int()));
  }
  for (const Value pattern : rule.get("onPodConditions").items())
    out.conditions.push_back({text(pattern, "type"), text(pattern, "status")});
  return out;
}

SuccessRule read_success_rule(Value rule) {
  SuccessRule out;
  if (const Value indexes = rule.get("succeededIndexes"); indexes.is_string())
    out.indexes = indexes.as_string();
  out.count = number<std::int64_t>(rule, "succeededCount");
  return out;
}

void read_policies(Job& job, Value spec) {
  const Value failure = spec.get("podFailurePolicy");
  job.has_failure_policy = failure.is_object();
  for (const Value rule : failure.get("rules").items())
    job.failure_rules.push_back(read_failure_rule(rule));
  for (const Value rule : spec.get({"successPolicy", "rules"}).items())
    job.success_rules.push_back(read_success_rule(rule));
  job.replaces_only_failed =
      job.has_failure_policy || spec.get("podReplacementPolicy").as_string() == "Failed";
}

void read_spec(Job& job, Value spec) {
  job.mode = mode_of(spec.get("completionMode").as_string());
  job.parallelism = number<std::int64_t>(spec, "parallelism").value_or(1);
  job.completions = number<std::int64_t>(spec, "completions");
  job.backoff_limit = number<std::int64_t>(spec, "backoffLimit").value_or(6);
  job.backoff_limit_per_index = number<std::int32_t>(spec, "backoffLimitPerIndex");
  job.max_failed_indexes = number<std::int64_t>(spec, "maxFailedIndexes");
  if (const Value deadline = spec.get("activeDeadlineSeconds"); deadline.is_number())
    job.active_deadline = span_of(deadline.as_int());
  job.suspend = spec.get("suspend").as_bool();
  job.restarts_in_place =
      spec.get({"template", "spec", "restartPolicy"}).as_string() == "OnFailure";
  job.managed_by = text(spec, "managedBy");
  if (auto selector = api::LabelSelector::from_object(spec.get("selector")))
    job.selector = *std::move(selector);
  job.template_json = json::write(spec.get("template"));
  job.pods_set = spec.get({"template", "metadata", "labels", api::label::kJobSetName}).as_string();
  read_policies(job, spec);
}

void read_status(Job& job, Value status) {
  job.status_json = status.is_object() ? json::write(status) : "{}";
  job.conditions = api::read_conditions(status.get("conditions"));
  job.succeeded = status.get("succeeded").as_int();
  job.failed = status.get("failed").as_int();
  job.completed_indexes = text(status, "completedIndexes");
  job.failed_indexes = text(status, "failedIndexes");
  const Value uncounted = status.get("uncountedTerminatedPods");
  job.uncounted_succeeded = texts(uncounted.get("succeeded"));
  job.uncounted_failed = texts(uncounted.get("failed"));
  job.start_time = parse_time(status.get("startTime").as_string());
}

// The selector that Jobs are given unless somebody chooses another.
bool asks_for_uid(const api::LabelSelector& selector, const std::string& uid) {
  if (selector.requirements().size() != 1) return false;
  const api::Requirement& only = selector.requirements().front();
  return only.key == api::label::kControllerUid && only.op == api::Requirement::Op::kIn &&
         only.values == std::vector<std::string>{uid};
}

}  // namespace

bool Job::is_managed_elsewhere() const { return !managed_by.empty() && managed_by != kManager; }

const api::Condition* Job::true_condition(std::string_view type) const {
  const auto at = std::ranges::find_if(
      conditions, [&](const api::Condition& each) { return each.type == type && each.is_true; });
  return at == conditions.end() ? nullptr : &*at;
}

bool Job::selects(const std::vector<std::pair<std::string, std::string>>& labels) const {
  return selector.matches([&](std::string_view key) -> std::optional<std::string_view> {
    const auto at = std::ranges::find(labels, key, &std::pair<std::string, std::string>::first);
    if (at == labels.end()) return std::nullopt;
    return at->second;
  });
}

Job read_job(const store::Object& object, json::Value content) {
  Job job;
  const api::Meta& meta = object.meta();
  job.ref = ref_of(meta, "batch/v1", "Job");
  job.generation = meta.generation;
  job.deleting = meta.deletion_time.has_value();
  read_spec(job, content.get("spec"));
  job.selects_by_uid = asks_for_uid(job.selector, job.ref.uid);
  read_status(job, content.get("status"));
  return job;
}

}  // namespace muster::controllers::job
