#include "admission/pod/scheduling_validation.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

void validate_node_requirement(Value requirement, const Path& path, FieldErrors& errors) {
  const std::string_view op = text_of(requirement, "operator");
  if (op == "Gt" || op == "Lt") {
    if (requirement.get("values").size() != 1)
      errors.required(path.child("values"),
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else if (!validate_set_operator(requirement, path, errors)) {
    invalid_operator(requirement, path, errors);
  }
  validate_label_name(text_of(requirement, "key"), path.child("key"), errors);
}

void validate_node_field(Value requirement, const Path& path, FieldErrors& errors) {
  const std::string_view op = text_of(requirement, "operator");
  const Value values = requirement.get("values");
  if (op == "In" || op == "NotIn") {
    if (values.size() != 1)
      errors.required(
          path.child("values"),
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  } else {
    invalid_operator(requirement, path, errors);
  }
  if (text_of(requirement, "key") != "metadata.name")
    errors.invalid(path.child("key"), text_of(requirement, "key"),
                   "not a valid field selector key");
}

void validate_node_term(Value term, const Path& path, FieldErrors& errors) {
  const Value expressions = term.get("matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i)
    validate_node_requirement(expressions.item(i), path.child("matchExpressions").index(i), errors);
  const Value fields = term.get("matchFields");
  for (std::size_t i = 0; i < fields.size(); ++i)
    validate_node_field(fields.item(i), path.child("matchFields").index(i), errors);
}

void validate_weight(Value preferred, const Path& path, FieldErrors& errors) {
  const std::int64_t weight = int_of(preferred, "weight");
  if (weight <= 0 || weight > 100)
    errors.invalid(path.child("weight"), Value::of(weight), "must be in the range 1-100");
}

void validate_node_affinity(Value affinity, const Path& path, FieldErrors& errors) {
  if (const Value required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
      required.is_object()) {
    const Path at =
        path.child("requiredDuringSchedulingIgnoredDuringExecution").child("nodeSelectorTerms");
    const Value terms = required.get("nodeSelectorTerms");
    if (terms.empty()) errors.required(at, "must have at least one node selector term");
    for (std::size_t i = 0; i < terms.size(); ++i)
      validate_node_term(terms.item(i), at.index(i), errors);
  }
  const Value preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path at = path.child("preferredDuringSchedulingIgnoredDuringExecution").index(i);
    validate_weight(preferred.item(i), at, errors);
    validate_node_term(preferred.item(i).get("preference"), at.child("preference"), errors);
  }
}

void validate_pod_term(Value term, const Path& path, FieldErrors& errors) {
  validate_label_selector(term.get("labelSelector"), path.child("labelSelector"), errors);
  validate_label_selector(term.get("namespaceSelector"), path.child("namespaceSelector"), errors);
  for (const Value ns : term.get("namespaces").items())
    add_faults(errors, path.child("namespace"), ns.as_string(),
               api::check_dns1123_label(ns.as_string()));
  const std::string_view key = text_of(term, "topologyKey");
  if (key.empty()) errors.required(path.child("topologyKey"), "can not be empty");
  validate_label_name(key, path.child("topologyKey"), errors);
}

void validate_pod_affinity(Value affinity, const Path& path, FieldErrors& errors) {
  const Value required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < required.size(); ++i)
    validate_pod_term(required.item(i),
                      path.child("requiredDuringSchedulingIgnoredDuringExecution").index(i),
                      errors);
  const Value preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path at = path.child("preferredDuringSchedulingIgnoredDuringExecution").index(i);
    validate_weight(preferred.item(i), at, errors);
    validate_pod_term(preferred.item(i).get("podAffinityTerm"), at.child("podAffinityTerm"),
                      errors);
  }
}

void validate_toleration_value(Value toleration, const Path& path, FieldErrors& errors) {
  const std::string_view op = text_of(toleration, "operator");
  const std::string_view value = text_of(toleration, "value");
  if (op.empty() || op == "Equal") {
    const api::Faults faults = api::check_label_value(value);
    if (!faults.empty())
      errors.invalid(path.child("operator"), value, fmt::format("{}", fmt::join(faults, ";")));
  } else if (op == "Exists") {
    if (!value.empty())
      errors.invalid(path.child("operator"), value,
                     "value must be empty when `operator` is 'Exists'");
  } else {
    validate_choice(toleration, "operator", {"Equal", "Exists"}, path, errors);
  }
}

using KeyAndAction = std::pair<std::string_view, std::string_view>;

KeyAndAction key_and_action(Value constraint) {
  return {text_of(constraint, "topologyKey"), text_of(constraint, "whenUnsatisfiable")};
}

}  // namespace

void validate_affinity(Value affinity, const Path& path, FieldErrors& errors) {
  validate_node_affinity(affinity.get("nodeAffinity"), path.child("nodeAffinity"), errors);
  validate_pod_affinity(affinity.get("podAffinity"), path.child("podAffinity"), errors);
  validate_pod_affinity(affinity.get("podAntiAffinity"), path.child("podAntiAffinity"), errors);
}

void validate_tolerations(Value tolerations, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Value toleration = tolerations.item(i);
    const Path entry = path.index(i);
    const std::string_view key = text_of(toleration, "key");
    const std::string_view op = text_of(toleration, "operator");
    if (!key.empty()) validate_label_name(key, entry.child("key"), errors);
    if (key.empty() && op != "Exists")
      errors.invalid(entry.child("operator"), op,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
    if (has_value(toleration, "tolerationSeconds") && text_of(toleration, "effect") != "NoExecute")
      errors.invalid(entry.child("effect"), text_of(toleration, "effect"),
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    validate_toleration_value(toleration, entry, errors);
    validate_choice(toleration, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}, entry,
                    errors);
  }
}

void validate_spread_constraints(Value constraints, const Path& path, FieldErrors& errors) {
  std::map<KeyAndAction, std::size_t> last;  // where each stands for the last time
  for (std::size_t i = 0; i < constraints.size(); ++i)
    last[key_and_action(constraints.item(i))] = i;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Value constraint = constraints.item(i);
    const Path entry = path.index(i);
    if (int_of(constraint, "maxSkew") <= 0)
      errors.invalid(entry.child("maxSkew"), Value::of(int_of(constraint, "maxSkew")),
                     "must be greater than zero");
    const auto [key, action] = key_and_action(constraint);
    if (key.empty())
      errors.required(entry.child("topologyKey"), "can not be empty");
    else
      validate_label_name(key, entry.child("topologyKey"), errors);
    if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
      constexpr std::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
      errors.not_supported(entry.child("whenUnsatisfiable"), action, kActions);
    }
    if (last[{key, action}] != i)
      errors.duplicate(entry.child("{topologyKey, whenUnsatisfiable}"),
                       fmt::format("{{{}, {}}}", key, action));
    if (const Value domains = constraint.get("minDomains"); !domains.is_null()) {
      if (domains.as_int() <= 0)
        errors.invalid(entry.child("minDomains"), domains, "must be greater than zero");
      if (action != "DoNotSchedule")
        errors.invalid(
            entry.child("minDomains"), domains,
            fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                        action));
    }
    validate_choice(constraint, "nodeAffinityPolicy", {"Honor", "Ignore"}, entry, errors);
    validate_choice(constraint, "nodeTaintsPolicy", {"Honor", "Ignore"}, entry, errors);
    validate_label_selector(constraint.get("labelSelector"), entry.child("labelSelector"), errors);
  }
}

void validate_scheduling_gates(Value gates, const Path& path, FieldErrors& errors) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = text_of(gates.item(i), "name");
    add_faults(errors, path.index(i), name, api::check_qualified_name(name));
    if (!names.insert(name).second) errors.duplicate(path.index(i), name);
  }
}

void validate_taints(Value taints, const Path& path, FieldErrors& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Value taint = taints.item(i);
    const Path entry = path.index(i);
    validate_label_name(text_of(taint, "key"), entry.child("key"), errors);
    const api::Faults faults = api::check_label_value(text_of(taint, "value"));
    if (!faults.empty())
      errors.invalid(entry.child("value"), text_of(taint, "value"),
                     fmt::format("{}", fmt::join(faults, ";")));
    require_choice(taint, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}, entry, errors);
    if (!seen.emplace(text_of(taint, "key"), text_of(taint, "effect")).second)
      errors.add("FieldValueDuplicate", entry,
                 fmt::format("Duplicate value: {}: taints must be unique by key and effect pair",
                             api::quote(taint)));
  }
}

}  // namespace muster::admission
