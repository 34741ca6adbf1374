#include "controllers/job/success_policy.h"

namespace muster::controllers::job {
namespace {

bool is_met(const SuccessRule& rule, std::int64_t completions, const api::IntervalSet& succeeded) {
  if (!rule.indexes) return rule.count && succeeded.size() >= *rule.count;
  const api::IntervalSet wanted = api::IntervalSet::parse(*rule.indexes, completions);
  if (wanted.empty()) return false;
  const std::int64_t have = wanted.common(succeeded);
  return have == wanted.size() || (rule.count && have >= *rule.count);
}

}  // namespace

std::optional<std::size_t> met_success_rule(const Job& job, const api::IntervalSet& succeeded) {
  if (succeeded.empty()) return std::nullopt;
  for (std::size_t i = 0; i < job.success_rules.size(); ++i) {
    if (is_met(job.success_rules[i], job.completions.value_or(0), succeeded)) return i;
  }
  return std::nullopt;
}

}  // namespace muster::controllers::job
