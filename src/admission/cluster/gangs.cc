// Workload and PodGroup of scheduling.k8s.io, each request in the words and by the rules of its
// version (spec: gang 1.3 to 1.5).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "admission/feature_gates.h"
#include "admission/kinds.h"
#include "admission/pod/priority.h"
#include "admission/rules/checks.h"
#include "admission/rules/finalizer.h"
#include "admission/rules/list_index.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

constexpr int kMostTemplates = 8;
constexpr std::string_view kTemplateList = "podGroupTemplates";

bool is_version(const Context& context, std::string_view version) {
  return context.resource->gvk.version == version;
}
bool is_v1alpha1(const Context& context) { return is_version(context, "v1alpha1"); }
bool is_beta(const Context& context) { return is_version(context, "v1beta1"); }

// --- fields of gates that are off ---

struct GatedField {
  std::string_view name;
  std::string_view gate;  // empty: a gate that is not offered, so never on
};
constexpr auto kGatedFields = std::to_array<GatedField>({
    {"schedulingConstraints", "TopologyAwareWorkloadScheduling"},
    {"resourceClaims", "DRAWorkloadResourceClaims"},
    {"preemptionPolicy", ""},
    {"parentCompositePodGroupName", ""},
    {"compositePodGroupTemplates", ""},
});

// Dropped without a word, as upstream does, unless the object had them before.
void drop_gated_fields(const Context& context, Value holder, Value old) {
  if (!holder.is_object()) return;
  for (const auto& [name, gate] : kGatedFields)
    if ((gate.empty() || !context.gates->enabled(gate)) && !has_value(old, name))
      holder.erase(name);
}

void drop_gated_fields_of_workload(const Context& context, Value workload, Value old) {
  const Value spec = workload.get("spec");
  drop_gated_fields(context, spec, old.get("spec"));
  const ItemsBy before(old.get({"spec", kTemplateList}), "name");
  for (const Value each : spec.get(kTemplateList).items())
    drop_gated_fields(context, each, before.find(text_of(each, "name")));
}

void prepare_workload(const Context& context, Value workload) {
  drop_gated_fields_of_workload(context, workload, Value());
}

void prepare_pod_group(const Context& context, Value group) {
  drop_gated_fields(context, group.get("spec"), Value());
}

void prepare_pod_group_update(const Context& context, Value group, Value old) {
  drop_gated_fields(context, group.get("spec"), old.get("spec"));
}

// --- what all groups and templates have ---

// Exactly one of two members, by presence.
void validate_union(Value holder, std::string_view first, std::string_view second, const Path& at,
                    FieldErrors& errors) {
  const bool has_first = has_value(holder, first);
  const bool has_second = has_value(holder, second);
  if (has_first && has_second)
    errors.invalid(at, fmt::format("{{{}, {}}}", first, second),
                   fmt::format("must specify exactly one of: `{}`, `{}`", first, second));
  else if (!has_first && !has_second)
    errors.invalid(at, "", fmt::format("must specify one of: `{}`, `{}`", first, second));
}

void validate_min_count(Value policy, const Path& at, FieldErrors& errors) {
  if (!has_value(policy, "gang")) return;
  const std::int64_t least = int_of(policy.get("gang"), "minCount");
  const Path count = at.child("gang").child("minCount");
  if (least == 0)
    errors.required(count);
  else if (least < 0)
    errors.invalid(count, Value::of(least), "must be greater than or equal to 1");
}

void validate_topology(Value holder, const Path& path, FieldErrors& errors) {
  const Value topology = holder.get({"schedulingConstraints", "topology"});
  const Path at = path.child("schedulingConstraints").child("topology");
  if (topology.size() > 1) return errors.too_many(at, topology.size(), 1);
  if (topology.size() == 1 && require_text(topology.item(0), "key", at.index(0), errors))
    validate_label_name(text_of(topology.item(0), "key"), at.index(0).child("key"), errors);
}

void validate_disruption_mode(const Context& context, Value holder, const Path& path,
                              FieldErrors& errors) {
  if (!is_beta(context))
    return validate_choice(holder, "disruptionMode", {"Pod", "PodGroup"}, path, errors);
  if (has_value(holder, "disruptionMode"))
    validate_union(holder.get("disruptionMode"), "single", "all", path.child("disruptionMode"),
                   errors);
}

void validate_group_spec(const Context& context, Value spec, const Path& path,
                         FieldErrors& errors) {
  const Path policy = path.child("schedulingPolicy");
  validate_union(spec.get("schedulingPolicy"), "basic", "gang", policy, errors);
  validate_min_count(spec.get("schedulingPolicy"), policy, errors);
  validate_topology(spec, path, errors);
  validate_disruption_mode(context, spec, path, errors);
  if (const std::string_view name = text_of(spec, "priorityClassName"); !name.empty())
    add_faults(errors, path.child("priorityClassName"), name, api::check_dns1123_subdomain(name));
  if (const std::int64_t priority = int_of(spec, "priority"); priority > kHighestUserPriority)
    errors.invalid(path.child("priority"), Value::of(priority),
                   fmt::format("must be less than or equal to {}", kHighestUserPriority));
}

// Upstream's generated check prints no value.
void require_fixed(Value spec, Value old, std::string_view key, const Path& path,
                   FieldErrors& errors) {
  if (!json::equal(spec.get(key), old.get(key)))
    errors.invalid(path.child(key), Value(), kImmutable);
}

// The number may change, the kind of the policy may not.
void require_same_policy(Value spec, Value old, const Path& path, FieldErrors& errors) {
  const Path at = path.child("schedulingPolicy");
  const Value now = spec.get("schedulingPolicy");
  const Value before = old.get("schedulingPolicy");
  if (has_value(now, "basic") != has_value(before, "basic"))
    errors.invalid(at.child("basic"), Value(), kImmutable);
  if (has_value(now, "gang") != has_value(before, "gang"))
    errors.invalid(at.child("gang"), Value(),
                   has_value(before, "gang") ? "field cannot be cleared once set"
                                             : "field cannot be set once created");
}

// What of a template or a PodGroup never changes.
constexpr auto kFixedOfGroup =
    std::to_array<std::string_view>({"schedulingConstraints", "resourceClaims", "disruptionMode",
                                     "priorityClassName", "priority", "preemptionPolicy"});

// --- Workload ---

void validate_controller(Value controller, const Path& path, FieldErrors& errors) {
  if (!controller.is_object()) return;
  if (const std::string_view group = text_of(controller, "apiGroup"); !group.empty())
    add_faults(errors, path.child("apiGroup"), group, api::check_dns1123_subdomain(group));
  for (const std::string_view key : {"kind", "name"})
    if (require_text(controller, key, path, errors))
      add_faults(errors, path.child(key), text_of(controller, key),
                 api::check_path_segment(text_of(controller, key)));
}

void validate_v1alpha1_group(Value group, const Path& path, FieldErrors& errors) {
  constexpr const char* kExactlyOne = "exactly one of `basic`, `gang` is required";
  const Value policy = group.get("policy");
  const Path at = path.child("policy");
  const bool basic = has_value(policy, "basic");
  const bool gang = has_value(policy, "gang");
  if (!basic && !gang)
    errors.required(at, kExactlyOne);
  else if (basic && gang)
    errors.invalid(at, "{basic, gang}",
                   fmt::format("{}, but multiple fields are set", kExactlyOne));
  else
    validate_min_count(policy, at, errors);
}

// A Workload without any group, in the words of each version.
void require_templates(const Context& context, const Path& spec, const Path& list,
                       FieldErrors& errors) {
  if (is_beta(context))
    errors.invalid(spec, "",
                   "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`");
  else
    errors.required(list, is_v1alpha1(context) ? "must have at least one item" : "");
}

// A name is as long as its bytes, says 1.37.
void validate_template_name(const Context& context, std::string_view name, const Path& path,
                            FieldErrors& errors) {
  for (const std::string& fault : api::check_dns1123_label(name))
    errors.invalid(path, name,
                   is_beta(context) && fault == "must be no more than 63 characters"
                       ? "must be no more than 63 bytes"
                       : fault);
}

void validate_templates(const Context& context, Value templates, const Path& at,
                        FieldErrors& errors) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < templates.size(); ++i)
    if (!names.insert(text_of(templates.item(i), "name")).second)
      errors.duplicate(at.index(i), templates.item(i));
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const Value each = templates.item(i);
    const std::string_view name = text_of(each, "name");
    if (require_text(each, "name", at.index(i), errors))
      validate_template_name(context, name, at.index(i).child("name"), errors);
    if (is_v1alpha1(context))
      validate_v1alpha1_group(each, at.index(i), errors);
    else
      validate_group_spec(context, each, at.index(i), errors);
  }
}

// Since v1beta1 all groups of a Workload have one priority.
void validate_one_priority(Value templates, FieldErrors& errors) {
  const Value first = templates.item(0);
  const bool all_alike = std::ranges::all_of(templates.items(), [&](Value each) {
    return text_of(each, "priorityClassName") == text_of(first, "priorityClassName") &&
           json::equal(each.get("priority"), first.get("priority"));
  });
  if (!all_alike)
    errors.invalid(Path("spec"), Value(), "detected multiple priority configurations");
}

void validate_workload(const Context& context, Value workload, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = workload.get("spec");
  validate_controller(spec.get("controllerRef"), path.child("controllerRef"), errors);
  const std::string_view list = is_v1alpha1(context) ? "podGroups" : kTemplateList;
  const Value templates = spec.get(list);
  const Path at = path.child(list);
  if (templates.empty()) return require_templates(context, path, at, errors);
  if (templates.size() > kMostTemplates)
    return errors.too_many(at, templates.size(), kMostTemplates);
  validate_templates(context, templates, at, errors);
  if (is_beta(context)) validate_one_priority(templates, errors);
}

// Templates may change places, and their minCount.
void validate_template_changes(Value now, Value before, FieldErrors& errors) {
  const Path path = Path("spec").child(kTemplateList);
  const ItemsBy old(before, "name");
  const ItemsBy present(now, "name");
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Value each = now.item(i);
    const Value was = old.find(text_of(each, "name"));
    if (was.is_null()) {
      errors.forbidden(path.index(i), "item may not be added");
      continue;
    }
    require_same_policy(each, was, path.index(i), errors);
    for (const std::string_view key : kFixedOfGroup)
      require_fixed(each, was, key, path.index(i), errors);
  }
  const bool all_there = std::ranges::all_of(
      before.items(), [&](Value each) { return present.contains(text_of(each, "name")); });
  if (!all_there) errors.forbidden(path, "item may not be removed");
}

void validate_workload_update(const Context& context, Value workload, Value old,
                              FieldErrors& errors) {
  const Path path("spec");
  const Value spec = workload.get("spec");
  const Value before = old.get("spec");
  if (is_v1alpha1(context)) {
    if (has_value(before, "controllerRef"))
      require_unchanged(spec, before, "controllerRef", path, errors);
    return require_unchanged(spec, before, "podGroups", path, errors);
  }
  require_fixed(spec, before, "controllerRef", path, errors);
  if (is_beta(context))
    validate_template_changes(spec.get(kTemplateList), before.get(kTemplateList), errors);
  else
    require_fixed(spec, before, kTemplateList, path, errors);
}

// --- PodGroup ---

void default_pod_group(const Context& context, Value group) {
  const Value spec = group.object_at("spec");
  if (!is_beta(context)) return set_default(spec, "disruptionMode", "Pod");
  if (!has_value(spec, "disruptionMode")) spec.object_at("disruptionMode").object_at("single");
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

void validate_template_ref(const Context& context, Value group, FieldErrors& errors) {
  const bool beta = is_beta(context);
  const Value spec = group.get("spec");
  const Value ref = beta ? spec.get("workloadRef") : spec.get({"podGroupTemplateRef", "workload"});
  if (!ref.is_object()) return;
  const Path path = beta ? Path("spec").child("workloadRef")
                         : Path("spec").child("podGroupTemplateRef").child("workload");
  const std::string_view workload = text_of(ref, "workloadName");
  if (require_text(ref, "workloadName", path, errors))
    add_faults(errors, path.child("workloadName"), workload,
               api::check_dns1123_subdomain(workload));
  const std::string_view key = beta ? "templateName" : "podGroupTemplateName";
  if (require_text(ref, key, path, errors))
    add_faults(errors, path.child(key), text_of(ref, key),
               api::check_dns1123_label(text_of(ref, key)));
}

void validate_pod_group(const Context& context, Value group, FieldErrors& errors) {
  validate_template_ref(context, group, errors);
  validate_group_spec(context, group.get("spec"), Path("spec"), errors);
}

void validate_pod_group_update(const Context& context, Value group, Value old,
                               FieldErrors& errors) {
  const Path path("spec");
  const Value spec = group.get("spec");
  const Value before = old.get("spec");
  require_fixed(spec, before, is_beta(context) ? "workloadRef" : "podGroupTemplateRef", path,
                errors);
  if (is_beta(context))
    require_same_policy(spec, before, path, errors);
  else
    require_fixed(spec, before, "schedulingPolicy", path, errors);
  for (const std::string_view key : kFixedOfGroup) require_fixed(spec, before, key, path, errors);
}

}  // namespace

constinit const Kind kWorkload = {
    .group = "scheduling.k8s.io",
    .name = "Workload",
    .prepare_create = prepare_workload,
    .prepare_update = drop_gated_fields_of_workload,
    .validate = validate_workload,
    .validate_update = validate_workload_update,
};

constinit const Kind kPodGroup = {
    .group = "scheduling.k8s.io",
    .name = "PodGroup",
    .apply_defaults = default_pod_group,
    .mutate = mutate_pod_group,
    .prepare_create = prepare_pod_group,
    .prepare_update = prepare_pod_group_update,
    .prepare_subresource = prepare_pod_group_status,
    .validate = validate_pod_group,
    .validate_update = validate_pod_group_update,
};

}  // namespace muster::admission
