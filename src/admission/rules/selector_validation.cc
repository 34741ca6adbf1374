#include "admission/rules/selector_validation.h"

#include "admission/rules/checks.h"
#include "api/values/selector.h"

namespace muster::admission {
namespace {

void validate_requirement(Value requirement, const Path& path, FieldErrors& errors) {
  if (!validate_set_operator(requirement, path, errors))
    invalid_operator(requirement, path, errors);
  const Value values = requirement.get("values");
  validate_label_name(text_of(requirement, "key"), path.child("key"), errors);
  for (std::size_t i = 0; i < values.size(); ++i)
    add_faults(errors, path.child("values").index(i), values.item(i).as_string(),
               api::check_label_value(values.item(i).as_string()));
}

}  // namespace

bool validate_set_operator(Value requirement, const Path& path, FieldErrors& errors) {
  const std::string_view op = text_of(requirement, "operator");
  const bool has_values = !requirement.get("values").empty();
  if (op == "In" || op == "NotIn") {
    if (!has_values)
      errors.required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    return true;
  }
  if (op != "Exists" && op != "DoesNotExist") return false;
  if (has_values)
    errors.forbidden(path.child("values"),
                     "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  return true;
}

void invalid_operator(Value requirement, const Path& path, FieldErrors& errors) {
  errors.invalid(path.child("operator"), text_of(requirement, "operator"),
                 "not a valid selector operator");
}

void validate_label_name(std::string_view name, const Path& path, FieldErrors& errors) {
  add_faults(errors, path, name, api::check_qualified_name(name));
}

void validate_label_selector(Value selector, const Path& path, FieldErrors& errors) {
  api::validate_labels(selector.get("matchLabels"), path.child("matchLabels"), errors);
  const Value expressions = selector.get("matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i)
    validate_requirement(expressions.item(i), path.child("matchExpressions").index(i), errors);
}

bool selects(Value selector, Value labels) {
  const auto parsed = api::LabelSelector::from_object(selector);
  return parsed && parsed->matches(labels);
}

}  // namespace muster::admission
