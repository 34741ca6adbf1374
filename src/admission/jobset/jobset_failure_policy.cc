// The failure policy of a JobSet (spec: jobset 2.2, rows 14 to 20).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "admission/feature_gates.h"
#include "admission/jobset/jobset.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr std::size_t kLongestRuleName = 128;
constexpr int kMostReplicasToRestart = 1024;
constexpr auto kReasons =
    std::to_array<std::string_view>({"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes",
                                     "MaxFailedIndexesExceeded", "PodFailurePolicy"});

bool restarts_single_jobs(Value rule) {
  return text_of(rule, "action") == "RestartJob" ||
         text_of(rule, "action") == "RestartJobAndIgnoreMaxRestarts";
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
bool is_rule_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && is_word(name.back()) &&
         std::ranges::all_of(name, [](char c) { return is_word(c) || c == ',' || c == ':'; });
}

void check_rule(const JobSetCheck& check, Value rule, const Path& path) {
  const std::string_view name = text_of(rule, "name");
  if (name.empty() || name.size() > kLongestRuleName)
    check.errors.invalid(path.child("name"), name,
                         fmt::format("invalid failure policy rule name of length {}, the rule name "
                                     "must be at least 1 characters long and at most {} characters "
                                     "long",
                                     name.size(), kLongestRuleName));
  if (!is_rule_name(name))
    check.errors.invalid(
        path.child("name"), name,
        fmt::format("invalid failure policy rule name '{}', a failure policy rule "
                    "name must start with an alphabetic character, optionally "
                    "followed by a string of alphanumeric characters or '_,:', and "
                    "must end with an alphanumeric character or '_'",
                    name));
  const Value targets = rule.get("targetReplicatedJobs");
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (check.replicated_job(targets.item(i).as_string()).is_null())
      check.errors.invalid(path.child("targetReplicatedJobs").index(i), targets.item(i),
                           fmt::format("invalid replicatedJob name '{}' in failure policy does not "
                                       "appear in .spec.ReplicatedJobs",
                                       targets.item(i).as_string()));
  const Value reasons = rule.get("onJobFailureReasons");
  for (std::size_t i = 0; i < reasons.size(); ++i)
    if (std::ranges::find(kReasons, reasons.item(i).as_string()) == kReasons.end())
      check.errors.invalid(path.child("onJobFailureReasons").index(i), reasons.item(i),
                           fmt::format("invalid job failure reason '{}' in failure policy is not a "
                                       "recognized job failure reason",
                                       reasons.item(i).as_string()));
}

void check_unique_names(const JobSetCheck& check, Value rules, const Path& path) {
  std::map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < rules.size(); ++i)
    places[text_of(rules.item(i), "name")].push_back(i);
  for (const auto& [name, indices] : places)
    if (indices.size() > 1)
      check.errors.invalid(
          path, name,
          fmt::format("rule names are not unique, rules with indices [{}] all have "
                      "the same name '{}'",
                      fmt::join(indices, " "), name));
}

// False if nothing else about the policy is worth saying.
bool check_single_restarts(const JobSetCheck& check, Value rules, const Path& path) {
  const auto items = rules.items();
  const auto found = std::ranges::find_if(items, restarts_single_jobs);
  if (found == items.end()) return true;
  const Path action = path.index(static_cast<std::size_t>(found - items.begin())).child("action");
  if (!check.context.gates->enabled("RestartJob")) {
    check.errors.invalid(action, text_of(*found, "action"),
                         "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are "
                         "not allowed when RestartJob feature gate is disabled");
    return false;
  }
  for (const Value job : check.spec.get("replicatedJobs").items()) {
    if (int_of(job, "replicas") <= kMostReplicasToRestart) continue;
    check.errors.invalid(
        action, text_of(*found, "action"),
        fmt::format("JobSet cannot have a failure policy rule with RestartJob or "
                    "RestartJobAndIgnoreMaxRestarts action and a replicated job with "
                    "replicas > {}",
                    kMostReplicasToRestart));
    break;
  }
  return true;
}

}  // namespace

void check_failure_policy(const JobSetCheck& check) {
  const Value rules = check.spec.get({"failurePolicy", "rules"});
  const Path path = Path("spec").child("failurePolicy").child("rules");
  if (!check_single_restarts(check, rules, path)) return;
  for (std::size_t i = 0; i < rules.size(); ++i) check_rule(check, rules.item(i), path.index(i));
  check_unique_names(check, rules, path);
}

}  // namespace muster::admission
