// scheduling.k8s.io: PriorityClass, and the gangs of Workload and PodGroup (spec: gang 1.4).
#include <fmt/format.h>

#include <set>

#include "admission/kinds.h"
#include "admission/pod/priority.h"
#include "admission/rules/checks.h"
#include "admission/rules/finalizer.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

constexpr std::int64_t kHighestUserPriority = 1'000'000'000;
constexpr int kMostTemplates = 8;

void default_priority_class(const Context&, Value priority_class) {
  set_default(priority_class, "preemptionPolicy", "PreemptLowerPriority");
}

void validate_system_class(Value priority_class, std::string_view name, FieldErrors& errors) {
  const std::int64_t value = system_priority(name);
  std::string fault;
  if (value == 0)
    fault = fmt::format("{} is not a known system priority class", name);
  else if (int_of(priority_class, "value") != value)
    fault = fmt::format("value of {} PriorityClass must be {}", name, value);
  else if (priority_class.get("globalDefault").as_bool())
    fault = fmt::format("globalDefault of {} PriorityClass must be false", name);
  if (!fault.empty())
    errors.forbidden(Path("metadata").child("name"),
                     "priority class names with 'system-' prefix are reserved for system use only. "
                     "error: " +
                         fault);
}

void validate_priority_class(const Context& context, Value priority_class, FieldErrors& errors) {
  if (context.operation != Operation::kCreate) return;
  const std::string_view name = text_of(priority_class.get("metadata"), "name");
  if (name.starts_with("system-"))
    validate_system_class(priority_class, name, errors);
  else if (int_of(priority_class, "value") > kHighestUserPriority)
    errors.forbidden(Path("value"),
                     fmt::format("maximum allowed value of a user defined priority is {}",
                                 kHighestUserPriority));
  validate_choice(priority_class, "preemptionPolicy", {"PreemptLowerPriority", "Never"}, Path(),
                  errors);
}

void validate_priority_class_update(const Context&, Value priority_class, Value old,
                                    FieldErrors& errors) {
  if (int_of(priority_class, "value") != int_of(old, "value"))
    errors.forbidden(Path("value"), "may not be changed in an update.");
  require_unchanged(priority_class, old, "preemptionPolicy", Path(), errors);
}

// Exactly one of the two, by presence.
void validate_policy(Value holder, const Path& path, FieldErrors& errors) {
  const Path at = path.child("schedulingPolicy");
  const Value policy = holder.get("schedulingPolicy");
  const bool basic = has_value(policy, "basic");
  const bool gang = has_value(policy, "gang");
  if (basic && gang)
    errors.invalid(at, "{basic, gang}", "must specify exactly one of: `basic`, `gang`");
  else if (!basic && !gang)
    errors.invalid(at, "", "must specify one of: `basic`, `gang`");
  if (!gang) return;
  const std::int64_t least = int_of(policy.get("gang"), "minCount");
  const Path count = at.child("gang").child("minCount");
  if (least == 0)
    errors.required(count);
  else if (least < 0)
    errors.invalid(count, Value::of(least), "must be greater than or equal to 1");
}

void validate_group_spec(Value spec, const Path& path, FieldErrors& errors) {
  validate_policy(spec, path, errors);
  const Value topology = spec.get({"schedulingConstraints", "topology"});
  const Path at = path.child("schedulingConstraints").child("topology");
  if (topology.size() > 1) errors.too_many(at, topology.size(), 1);
  for (std::size_t i = 0; i < topology.size() && topology.size() == 1; ++i)
    validate_label_name(text_of(topology.item(i), "key"), at.index(i).child("key"), errors);
  validate_choice(spec, "disruptionMode", {"Pod", "PodGroup"}, path, errors);
  if (const std::string_view name = text_of(spec, "priorityClassName"); !name.empty())
    add_faults(errors, path.child("priorityClassName"), name, api::check_dns1123_subdomain(name));
}

void validate_controller(Value controller, const Path& path, FieldErrors& errors) {
  if (!controller.is_object()) return;
  if (const std::string_view group = text_of(controller, "apiGroup"); !group.empty())
    add_faults(errors, path.child("apiGroup"), group, api::check_dns1123_subdomain(group));
  for (const std::string_view key : {"kind", "name"})
    if (require_text(controller, key, path, errors))
      add_faults(errors, path.child(key), text_of(controller, key),
                 api::check_path_segment(text_of(controller, key)));
}

void validate_workload(const Context&, Value workload, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = workload.get("spec");
  validate_controller(spec.get("controllerRef"), path.child("controllerRef"), errors);
  const Value templates = spec.get("podGroupTemplates");
  const Path at = path.child("podGroupTemplates");
  if (templates.empty()) return errors.required(at);
  if (templates.size() > kMostTemplates)
    return errors.too_many(at, templates.size(), kMostTemplates);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < templates.size(); ++i)
    if (!names.insert(text_of(templates.item(i), "name")).second)
      errors.duplicate(at.index(i), templates.item(i));
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const std::string_view name = text_of(templates.item(i), "name");
    if (require_text(templates.item(i), "name", at.index(i), errors))
      add_faults(errors, at.index(i).child("name"), name, api::check_dns1123_label(name));
    validate_group_spec(templates.item(i), at.index(i), errors);
  }
}

// Upstream's generated check prints no value.
void require_fixed(Value spec, Value old, std::string_view key, FieldErrors& errors) {
  if (!json::equal(spec.get(key), old.get(key)))
    errors.invalid(Path("spec").child(key), Value(), kImmutable);
}

void validate_workload_update(const Context&, Value workload, Value old, FieldErrors& errors) {
  for (const std::string_view key : {"controllerRef", "podGroupTemplates"})
    require_fixed(workload.get("spec"), old.get("spec"), key, errors);
}

void default_pod_group(const Context&, Value group) {
  set_default(group.object_at("spec"), "disruptionMode", "Pod");
}

Status mutate_pod_group(const Context& context, Value group, Value) {
  if (context.operation == Operation::kCreate)
    add_finalizer(group, "scheduling.k8s.io/podgroup-protection");
  return admit_pod_group_priority(context, group);
}

void prepare_pod_group_status(const Context&, Value group, Value old) {
  const Value metadata = json::clone(group.arena(), old.get("metadata"));
  for (const std::string_view key : {"managedFields", "resourceVersion"})
    take_member(metadata, group.get("metadata"), key);
  group.set("metadata", metadata);
}

void validate_template_ref(Value group, FieldErrors& errors) {
  const Value ref = group.get({"spec", "podGroupTemplateRef", "workload"});
  if (!ref.is_object()) return;
  const Path path = Path("spec").child("podGroupTemplateRef").child("workload");
  const std::string_view workload = text_of(ref, "workloadName");
  if (require_text(ref, "workloadName", path, errors))
    add_faults(errors, path.child("workloadName"), workload,
               api::check_dns1123_subdomain(workload));
  const std::string_view name = text_of(ref, "podGroupTemplateName");
  if (require_text(ref, "podGroupTemplateName", path, errors))
    add_faults(errors, path.child("podGroupTemplateName"), name, api::check_dns1123_label(name));
}

void validate_pod_group(const Context&, Value group, FieldErrors& errors) {
  validate_template_ref(group, errors);
  validate_group_spec(group.get("spec"), Path("spec"), errors);
}

void validate_pod_group_update(const Context&, Value group, Value old, FieldErrors& errors) {
  for (const std::string_view key :
       {"podGroupTemplateRef", "schedulingPolicy", "schedulingConstraints", "resourceClaims",
        "disruptionMode", "priorityClassName", "priority"})
    require_fixed(group.get("spec"), old.get("spec"), key, errors);
}

}  // namespace

constinit const Kind kPriorityClass = {
    .group = "scheduling.k8s.io",
    .name = "PriorityClass",
    .apply_defaults = default_priority_class,
    .validate = validate_priority_class,
    .validate_update = validate_priority_class_update,
};

constinit const Kind kWorkload = {
    .group = "scheduling.k8s.io",
    .name = "Workload",
    .validate = validate_workload,
    .validate_update = validate_workload_update,
};

constinit const Kind kPodGroup = {
    .group = "scheduling.k8s.io",
    .name = "PodGroup",
    .apply_defaults = default_pod_group,
    .mutate = mutate_pod_group,
    .prepare_subresource = prepare_pod_group_status,
    .validate = validate_pod_group,
    .validate_update = validate_pod_group_update,
};

}  // namespace muster::admission
