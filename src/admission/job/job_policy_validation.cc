// podFailurePolicy and successPolicy of a Job (spec: job 1.4, 1.5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "admission/job/job_validation.h"
#include "admission/rules/checks.h"
#include "api/values/interval_set.h"

namespace muster::admission {
namespace {

constexpr int kMostRules = 20;
constexpr int kMostExitCodes = 255;
constexpr int kMostPatterns = 20;
constexpr int kLongestIndexes = 64 * 1024;

void validate_action(Value rule, Value spec, const Path& path, FieldErrors& errors) {
  const std::string_view action = text_of(rule, "action");
  if (action.empty()) {
    errors.required(path.child("action"),
                    R"(valid values: ["Count" "FailIndex" "FailJob" "Ignore"])");
  } else if (action == "FailIndex") {
    if (!has_value(spec, "backoffLimitPerIndex"))
      errors.invalid(path.child("action"), action, "requires the backoffLimitPerIndex to be set");
  } else {
    validate_choice(rule, "action", {"Count", "FailIndex", "FailJob", "Ignore"}, path, errors);
  }
}

// A Job's spec, and the names of its containers: each of many rules may ask for one.
struct Judged {
  explicit Judged(Value job_spec) : spec(job_spec) {
    for (const std::string_view list : {"containers", "initContainers"})
      for (const Value container : spec.get({"template", "spec", list}).items())
        containers.insert(text_of(container, "name"));
  }

  Value spec;
  std::set<std::string_view> containers;
};

void validate_exit_code_values(Value requirement, const Path& path, FieldErrors& errors) {
  const Value values = requirement.get("values");
  if (values.empty())
    errors.invalid(path, values.is_array() ? values : Value::array(requirement.arena()),
                   "at least one value is required");
  else if (values.size() > kMostExitCodes)
    errors.too_many(path, values.size(), kMostExitCodes);
  const bool in = text_of(requirement, "operator") == "In";
  bool ordered = true;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t code = values.item(i).as_int();
    if (in && code == 0)
      errors.invalid(path.index(i), values.item(i), "must not be 0 for the In operator");
    if (!seen.insert(code).second) {
      errors.duplicate(path.index(i), values.item(i));
    } else if (i > 0 && code < values.item(i - 1).as_int()) {
      ordered = false;
    }
  }
  if (!ordered) errors.invalid(path, values, "must be ordered");
}

void validate_exit_codes(Value requirement, const Judged& job, const Path& path,
                         FieldErrors& errors) {
  const std::string_view op = text_of(requirement, "operator");
  if (op.empty())
    errors.required(path.child("operator"), R"(valid values: ["In" "NotIn"])");
  else
    validate_choice(requirement, "operator", {"In", "NotIn"}, path, errors);
  const std::string_view container = text_of(requirement, "containerName");
  if (has_value(requirement, "containerName") && !job.containers.contains(container))
    errors.invalid(path.child("containerName"), container,
                   "must be one of the container or initContainer names in the pod template");
  validate_exit_code_values(requirement, path.child("values"), errors);
}

void validate_patterns(Value patterns, const Path& path, FieldErrors& errors) {
  if (patterns.size() > kMostPatterns) errors.too_many(path, patterns.size(), kMostPatterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::string_view type = text_of(patterns.item(i), "type");
    add_faults(errors, path.index(i).child("type"), type, api::check_qualified_name(type));
    const std::string_view status = text_of(patterns.item(i), "status");
    if (status.empty())
      errors.required(path.index(i).child("status"), R"(valid values: ["False" "True" "Unknown"])");
    else
      validate_choice(patterns.item(i), "status", {"False", "True", "Unknown"}, path.index(i),
                      errors);
  }
}

// Upstream prints no value.
void rule_fault(FieldErrors& errors, const Path& path, std::string_view detail) {
  errors.add("FieldValueInvalid", path, "Invalid value: " + std::string(detail));
}

void validate_failure_rule(Value rule, const Judged& job, const Path& path, FieldErrors& errors) {
  validate_action(rule, job.spec, path, errors);
  const Value codes = rule.get("onExitCodes");
  const Value patterns = rule.get("onPodConditions");
  if (codes.is_object()) validate_exit_codes(codes, job, path.child("onExitCodes"), errors);
  if (!patterns.empty()) validate_patterns(patterns, path.child("onPodConditions"), errors);
  if (codes.is_object() && !patterns.empty())
    rule_fault(errors, path, "specifying both OnExitCodes and OnPodConditions is not supported");
  if (!codes.is_object() && patterns.empty())
    rule_fault(errors, path, "specifying one of OnExitCodes and OnPodConditions is required");
}

void validate_succeeded_count(Value count, std::int64_t most, std::string_view of_what,
                              const Path& path, FieldErrors& errors) {
  if (count.as_int() > most)
    errors.invalid(path, count, fmt::format("must be less than or equal to {} {}", most, of_what));
}

void validate_success_rule(Value rule, std::int64_t completions, const Path& path,
                           FieldErrors& errors) {
  const Value count = rule.get("succeededCount");
  const Value indexes = rule.get("succeededIndexes");
  if (count.is_null() && indexes.is_null())
    return errors.required(path,
                           "at least one of succeededCount or succeededIndexes must be specified");
  if (indexes.as_string().size() > kLongestIndexes)
    errors.too_long(path.child("succeededIndexes"), kLongestIndexes);
  const auto parsed = api::IntervalSet::parse_strictly(indexes.as_string(), completions);
  if (!indexes.is_null() && !parsed)
    errors.invalid(path.child("succeededIndexes"), indexes,
                   "error parsing succeededIndexes: " + parsed.error());
  if (count.is_null()) return;
  const Path at = path.child("succeededCount");
  validate_not_negative(rule, "succeededCount", path, errors);
  validate_succeeded_count(count, completions, "(the number of specified completions)", at, errors);
  if (!indexes.is_null() && parsed)
    validate_succeeded_count(count, parsed->size(),
                             "(the number of indexes in the specified succeededIndexes field)", at,
                             errors);
}

}  // namespace

void validate_pod_failure_policy(Value spec, const Path& path, FieldErrors& errors) {
  const Value rules = spec.get({"podFailurePolicy", "rules"});
  if (rules.size() > kMostRules) errors.too_many(path.child("rules"), rules.size(), kMostRules);
  const Judged job(spec);
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_failure_rule(rules.item(i), job, path.child("rules").index(i), errors);
}

void validate_success_policy(Value spec, const Path& path, FieldErrors& errors) {
  const Value rules = spec.get({"successPolicy", "rules"});
  if (rules.empty())
    return errors.required(
        path.child("rules"),
        "at least one rules must be specified when the successPolicy is specified");
  if (rules.size() > kMostRules) errors.too_many(path.child("rules"), rules.size(), kMostRules);
  for (std::size_t i = 0; i < rules.size(); ++i)
    validate_success_rule(rules.item(i), int_of(spec, "completions"), path.child("rules").index(i),
                          errors);
}

}  // namespace muster::admission
