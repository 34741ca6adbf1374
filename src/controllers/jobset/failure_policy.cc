#include "controllers/jobset/failure_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "api/schema/pattern.h"

namespace muster::controllers::jobset {
namespace {

using api::FailureAction;

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// Compiled once for all Jobs that failed: there may be thousands. They are not judged at admission:
// one that is no pattern matches nothing.
class Patterns {
 public:
  explicit Patterns(const std::vector<std::string>& expressions) {
    for (const std::string& expression : expressions) {
      if (auto pattern = api::compile_pattern(expression)) patterns_.push_back(std::move(pattern));
    }
  }
  bool any_found_in(std::string_view text) const {
    return std::ranges::any_of(patterns_,
                               [&](const auto& pattern) { return pattern->found_in(text); });
  }

 private:
  std::vector<std::shared_ptr<const api::Pattern>> patterns_;
};

bool fits_but_for_patterns(const api::FailurePolicyRule& rule, const Child& failed) {
  const auto& reasons = rule.on_job_failure_reasons;
  if (!reasons.empty() && !contains(reasons, failed.failure_reason)) return false;
  const auto& targets = rule.target_replicated_jobs;
  if (!failed.replicated_job) return false;
  return targets.empty() || contains(targets, *failed.replicated_job);
}

std::string_view name_of(FailureAction action) {
  switch (action) {
    case FailureAction::kFailJobSet:
      return "FailJobSet";
    case FailureAction::kRestartJobSet:
      return "RestartJobSet";
    case FailureAction::kRestartJobSetAndIgnoreMaxRestarts:
      return "RestartJobSetAndIgnoreMaxRestarts";
    case FailureAction::kRestartJob:
      return "RestartJob";
    case FailureAction::kRestartJobAndIgnoreMaxRestarts:
      return "RestartJobAndIgnoreMaxRestarts";
  }
  return {};
}

std::string blaming(std::string_view what, const Child& job) {
  return fmt::format("{} (first failed job: {})", what, job.name);
}

std::string applying(const FailureVerdict& verdict) {
  return blaming(fmt::format("applying {} failure policy action", name_of(verdict.action)),
                 *verdict.job);
}

// Restarts that use up maxRestarts.
std::int64_t counted_restarts(const api::JobSetStatus& status, const Gates& gates) {
  std::int64_t sum = status.restarts_count_towards_max;
  if (!gates.restart_job) return sum;
  for (const api::ReplicatedJobStatus& entry : status.replicated_jobs) {
    const auto& counts = entry.job_restarts_count_towards_max;
    sum = std::accumulate(counts.begin(), counts.end(), sum);
  }
  return sum;
}

void tell_action(const FailureVerdict& verdict, StatusDraft& draft) {
  draft.tell(true, fmt::format("{}FailurePolicyAction", name_of(verdict.action)),
             applying(verdict));
}

void restart_all(const FailureVerdict& verdict, bool counts, StatusDraft& draft) {
  ++draft.edit().restarts;
  if (counts) ++draft.edit().restarts_count_towards_max;
  tell_action(verdict, draft);
  const std::string reason =
      verdict.rule == nullptr ? "DefaultFailurePolicy" : "FailurePolicy_" + verdict.rule->name;
  draft.set_condition({.type = "RestartingJobSet",
                       .reason = reason,
                       .message = applying(verdict),
                       .warning = true});
}

void count_one(std::vector<std::int32_t>& counts, std::int32_t replicas, std::size_t index) {
  if (counts.empty()) counts.resize(static_cast<std::size_t>(replicas));
  if (index < counts.size()) ++counts[index];
}

Status restart_one(const api::JobSet& set, const FailureVerdict& verdict, bool counts,
                   StatusDraft& draft) {
  const Child& job = *verdict.job;
  const api::ReplicatedJob* const entry =
      job.replicated_job ? set.replicated_job(*job.replicated_job) : nullptr;
  auto& statuses = draft.edit().replicated_jobs;
  const auto status =
      std::ranges::find(statuses, job.replicated_job.value_or(""), &api::ReplicatedJobStatus::name);
  if (entry == nullptr || status == statuses.end() || !job.job_index.value) {
    return fail(Code::kInternal,
                fmt::format("job \"{}\" does not say which replicatedJob it is of", job.name));
  }
  const auto index = static_cast<std::size_t>(*job.job_index.value);
  count_one(status->job_restarts, entry->replicas, index);
  if (counts) count_one(status->job_restarts_count_towards_max, entry->replicas, index);
  tell_action(verdict, draft);
  return {};
}

bool is_limited(FailureAction action) {
  return action == FailureAction::kRestartJobSet || action == FailureAction::kRestartJob;
}

}  // namespace

const Child* first_failed(const Children& children) {
  const Child* first = nullptr;
  for (const Child* child : children) {
    if (child->end != Child::End::kFailed) continue;
    if (first == nullptr || child->failure_time < first->failure_time) first = child;
  }
  return first;
}

Children those_meant(const api::FailurePolicyRule& rule, const Children& failed) {
  Children meant;
  std::ranges::copy_if(failed, std::back_inserter(meant),
                       [&](const Child* child) { return fits_but_for_patterns(rule, *child); });
  if (meant.empty() || rule.on_job_failure_message_patterns.empty()) return meant;
  const Patterns patterns(rule.on_job_failure_message_patterns);
  std::erase_if(meant,
                [&](const Child* child) { return !patterns.any_found_in(child->failure_message); });
  return meant;
}

FailureVerdict judge_failure(const api::FailurePolicy& policy, const Children& failed) {
  for (const api::FailurePolicyRule& rule : policy.rules) {
    if (const Children meant = those_meant(rule, failed); !meant.empty()) {
      return {.action = rule.action, .job = first_failed(meant), .rule = &rule};
    }
  }
  return {.action = FailureAction::kRestartJobSet, .job = first_failed(failed)};
}

void fail_job_set(std::string_view reason, std::string_view message, StatusDraft& draft) {
  draft.set_condition({.type = "Failed", .reason = reason, .message = message, .warning = true});
  draft.set_condition({.type = "RestartingJobSet",
                       .is_true = false,
                       .reason = "JobSetFailed",
                       .message = "jobset failed"});
  draft.edit().terminal_state = "Failed";
}

Status apply_failure_policy(const api::JobSet& set, const Children& failed, const Gates& gates,
                            StatusDraft& draft) {
  if (!set.failure_policy) {
    fail_job_set("FailedJobs",
                 blaming("jobset failed due to one or more job failures", *first_failed(failed)),
                 draft);
    return {};
  }
  const FailureVerdict verdict = judge_failure(*set.failure_policy, failed);
  const bool one = verdict.action == FailureAction::kRestartJob ||
                   verdict.action == FailureAction::kRestartJobAndIgnoreMaxRestarts;
  if (one && !gates.restart_job) {
    return fail(Code::kInternal,
                fmt::format("failure policy action {} needs the feature gate RestartJob",
                            name_of(verdict.action)));
  }
  if (verdict.action == FailureAction::kFailJobSet) {
    fail_job_set("FailJobSetFailurePolicyAction", applying(verdict), draft);
    return {};
  }
  const bool limited = is_limited(verdict.action);
  if (limited && counted_restarts(draft.status(), gates) >= set.failure_policy->max_restarts) {
    fail_job_set("ReachedMaxRestarts",
                 blaming("jobset failed due to reaching max number of restarts", *verdict.job),
                 draft);
    return {};
  }
  if (one) return restart_one(set, verdict, limited, draft);
  restart_all(verdict, limited, draft);
  return {};
}

}  // namespace muster::controllers::jobset
