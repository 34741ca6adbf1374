// LimitRange, ResourceQuota and PodDisruptionBudget: bounds that others obey.
#include "admission/kinds.h"
#include "admission/pod/pod_defaults.h"
#include "admission/pod/resource_validation.h"
#include "admission/rules/checks.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

// Whatever `from` has and `list` lacks.
void complete(Value item, std::string_view list, std::string_view from) {
  for (const json::Member& amount : item.get(from).members())
    set_default(item.object_at(list), amount.key, amount.value);
}

void default_limit_range(const Context&, Value range) {
  for (const Value item : range.get({"spec", "limits"}).items()) {
    for (const std::string_view list :
         {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"})
      round_resource_list(item.get(list));
    if (text_of(item, "type") != "Container") continue;
    complete(item, "default", "max");
    complete(item, "defaultRequest", "default");
    complete(item, "defaultRequest", "min");
  }
}

void default_quota(const Context&, Value quota) {
  round_resource_list(quota.get({"spec", "hard"}));
}

void validate_quota(const Context&, Value quota, FieldErrors& errors) {
  const Path path = Path("spec").child("hard");
  for (const json::Member& limit : quota.get({"spec", "hard"}).members()) {
    const Path entry = path.key(limit.key);
    add_faults(errors, entry, limit.key, api::check_qualified_name(limit.key));
    if (limit.key.find('/') == std::string_view::npos && !is_standard_resource(limit.key)) {
      errors.invalid(entry, limit.key, "must be a standard resource type or fully qualified");
      errors.invalid(entry, limit.key, "must be a standard resource for quota");
    }
    validate_amount(limit.key, limit.value, entry, errors);
  }
}

void validate_percent(std::string_view text, const Path& path, FieldErrors& errors) {
  const std::string_view digits = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  if (!text.ends_with('%') || digits.empty() ||
      digits.find_first_not_of("0123456789") != std::string_view::npos)
    errors.invalid(
        path, text,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. "
        "'1%',  or '93%', regex used for validation is '[0-9]+%')");
}

void validate_budget(const Context&, Value budget, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = budget.get("spec");
  if (has_value(spec, "minAvailable") && has_value(spec, "maxUnavailable"))
    errors.invalid(path, spec, "minAvailable and maxUnavailable cannot be both set");
  for (const std::string_view key : {"minAvailable", "maxUnavailable"})
    if (spec.get(key).is_string())
      validate_percent(spec.get(key).as_string(), path.child(key), errors);
    else
      validate_not_negative(spec, key, path, errors);
  validate_label_selector(spec.get("selector"), path.child("selector"), errors);
  validate_choice(spec, "unhealthyPodEvictionPolicy", {"AlwaysAllow", "IfHealthyBudget"}, path,
                  errors);
}

}  // namespace

constinit const Kind kLimitRange = {
    .group = "",
    .name = "LimitRange",
    .apply_defaults = default_limit_range,
};

constinit const Kind kResourceQuota = {
    .group = "",
    .name = "ResourceQuota",
    .apply_defaults = default_quota,
    .validate = validate_quota,
};

constinit const Kind kPodDisruptionBudget = {
    .group = "policy",
    .name = "PodDisruptionBudget",
    .validate = validate_budget,
};

}  // namespace muster::admission
