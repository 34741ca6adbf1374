#include "controllers/job/finish_decision.h"

#include <fmt/format.h>

#include "controllers/job/pod_failure_policy.h"
#include "controllers/job/success_policy.h"

namespace muster::controllers::job {
namespace {

using api::PodPhase;

Finish failure(std::string reason, std::string message) {
  return {.success = false, .reason = std::move(reason), .message = std::move(message)};
}

std::optional<Finish> announced(const Job& job) {
  for (const bool success : {true, false}) {
    Finish finish{.success = success, .announced = true};
    const api::Condition* condition = job.true_condition(finish.interim());
    if (condition == nullptr) continue;
    finish.reason = condition->reason;
    finish.message = condition->message;
    return finish;
  }
  return std::nullopt;
}

std::optional<Finish> by_failure_policy(const Job& job, const Census& census) {
  if (job.failure_rules.empty()) return std::nullopt;
  for (const Pod* pod : census.pods) {
    if (!is_failed(job, *pod)) continue;
    const auto verdict = judge(job, *pod);
    if (verdict && verdict->action == FailureAction::kFailJob)
      return failure("PodFailurePolicy", verdict->message);
  }
  return std::nullopt;
}

// Containers that were started again in place count too.
bool has_too_many_restarts(const Job& job, const Census& census) {
  if (!job.restarts_in_place) return false;
  std::int64_t restarts = 0;
  for (const Pod* pod : census.pods) {
    if (pod->phase == PodPhase::kRunning || pod->phase == PodPhase::kPending)
      restarts += pod->restarts;
  }
  return job.backoff_limit == 0 ? restarts > 0 : restarts >= job.backoff_limit;
}

std::optional<Finish> by_failed_indexes(const Job& job, const Census& census) {
  if (!census.failed_indexes) return std::nullopt;
  const std::int64_t failed = census.failed_indexes->size();
  if (job.max_failed_indexes && failed > *job.max_failed_indexes)
    return failure("MaxFailedIndexesExceeded",
                   "Job has exceeded the specified maximal number of failed indexes");
  const bool all_settled = failed + census.succeeded_indexes.size() >= job.completions.value_or(0);
  if (failed > 0 && all_settled) return failure("FailedIndexes", "Job has failed indexes");
  return std::nullopt;
}

std::optional<Finish> by_success_policy(const Job& job, const Census& census) {
  const auto rule = met_success_rule(job, census.succeeded_indexes);
  if (!rule) return std::nullopt;
  return Finish{.success = true,
                .reason = "SuccessPolicy",
                .message = fmt::format("Matched rules at index {}", *rule)};
}

}  // namespace

std::optional<Duration> until_deadline(const Job& job, std::optional<Time> start_time, Time now) {
  if (!job.active_deadline || !start_time || job.suspend) return std::nullopt;
  return *job.active_deadline - (now - *start_time);
}

std::optional<Finish> decide_finish(const Job& job, const Census& census,
                                    std::optional<Time> start_time, Time now) {
  if (auto finish = announced(job)) return finish;
  if (auto finish = by_failure_policy(job, census)) return finish;
  if (census.failed > job.backoff_limit || has_too_many_restarts(job, census))
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  if (const auto left = until_deadline(job, start_time, now); left && *left <= Duration::zero())
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  if (!job.is_indexed()) return std::nullopt;
  if (auto finish = by_failed_indexes(job, census)) return finish;
  return by_success_policy(job, census);
}

std::optional<Finish> decide_completion(const Job& job, const Census& census, std::int64_t active) {
  const bool enough = job.completions ? census.succeeded >= *job.completions : census.succeeded > 0;
  if (!enough || active != 0) return std::nullopt;
  return Finish{.success = true,
                .reason = "CompletionsReached",
                .message = "Reached expected number of succeeded pods"};
}

}  // namespace muster::controllers::job
