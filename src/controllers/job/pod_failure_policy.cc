#include "controllers/job/pod_failure_policy.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::controllers::job {
namespace {

const Pod::Exit* matching_exit(const PodFailureRule::ExitCodes& rule, const Pod& pod) {
  if (!rule.in) return nullptr;
  const auto at = std::ranges::find_if(pod.exits, [&](const Pod::Exit& exit) {
    if (!rule.container.empty() && rule.container != exit.container) return false;
    const bool listed = std::ranges::find(rule.values, exit.code) != rule.values.end();
    return listed == *rule.in;
  });
  return at == pod.exits.end() ? nullptr : &*at;
}

const std::string* matching_condition(const std::vector<PodFailureRule::Pattern>& patterns,
                                      const Pod& pod) {
  for (const auto& [type, status] : pod.conditions) {
    const bool matches = std::ranges::any_of(patterns, [&](const PodFailureRule::Pattern& pattern) {
      return pattern.type == type && pattern.status == status;
    });
    if (matches) return &type;
  }
  return nullptr;
}

// Why the rule applies, as a clause about the pod; nothing if it does not.
std::optional<std::string> match(const PodFailureRule& rule, const Pod& pod) {
  const std::string path = pod.ref.ns + "/" + pod.ref.name;
  if (rule.exit_codes) {
    if (const Pod::Exit* exit = matching_exit(*rule.exit_codes, pod))
      return fmt::format("Container {} for pod {} failed with exit code {}", exit->container, path,
                         exit->code);
  } else if (const std::string* type = matching_condition(rule.conditions, pod)) {
    return fmt::format("Pod {} has condition {}", path, *type);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> judge(const Job& job, const Pod& pod) {
  for (std::size_t i = 0; i < job.failure_rules.size(); ++i) {
    const PodFailureRule& rule = job.failure_rules[i];
    const bool known =
        rule.action && (*rule.action != FailureAction::kFailIndex || job.backoff_limit_per_index);
    if (!known) continue;
    const auto why = match(rule, pod);
    if (!why) continue;
    if (rule.action != FailureAction::kFailJob) return Verdict{*rule.action, ""};
    return Verdict{*rule.action, fmt::format("{} matching FailJob rule at index {}", *why, i)};
  }
  return std::nullopt;
}

bool counts_as_failure(const Job& job, const Pod& pod) {
  const auto verdict = judge(job, pod);
  return !verdict || verdict->action != FailureAction::kIgnore;
}

bool is_failed(const Job& job, const Pod& pod) {
  if (pod.phase == api::PodPhase::kFailed) return true;
  return !job.replaces_only_failed && pod.deleting && pod.phase != api::PodPhase::kSucceeded;
}

}  // namespace muster::controllers::job
