// Kueue's Workload: what its webhook says, and its row (spec: queueing 1.8, 1.9).
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "admission/feature_gates.h"
#include "admission/kinds.h"
#include "admission/kueue/kueue.h"
#include "admission/rules/checks.h"
#include "admission/rules/list_index.h"

namespace muster::admission {
namespace {

bool reserved(Value workload) { return condition_true(workload, "QuotaReserved"); }

Status drop_disabled_fields(const Context& context, Value workload, Value) {
  if (context.operation != Operation::kCreate || context.gates->enabled("PartialAdmission"))
    return {};
  for (const Value pod_set : workload.get({"spec", "podSets"}).items())
    if (pod_set.is_object()) pod_set.erase("minCount");
  return {};
}

void check_containers(Value containers, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Path at = path.index(i).child("resources").child("requests");
    for (const json::Member& request :
         containers.item(i).get({"resources", "requests"}).members()) {
      if (request.key == "pods")
        errors.invalid(at.key(request.key), request.key,
                       "the key is reserved for internal kueue use");
      const auto amount = quantity_of(request.value);
      if (amount && amount->is_negative())
        errors.invalid(at.key(request.key), amount->text(), kNotNegative);
    }
  }
}

void check_pod_sets(Value pod_sets, FieldErrors& errors) {
  const Path path = Path("spec").child("podSets");
  int partial = 0;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const Value pod_set = pod_sets.item(i);
    for (const std::string_view list : {"initContainers", "containers"})
      check_containers(pod_set.get({"template", "spec", list}),
                       path.index(i).child("template").child("spec").child(list), errors);
    partial += has_value(pod_set, "minCount") ? 1 : 0;
  }
  if (partial > 1) errors.invalid(path, Value::of(partial), "at most one podSet can use minCount");
}

// cpu counts in thousandths.
std::int64_t count_amount(std::string_view resource, const api::Quantity& amount) {
  return resource == "cpu" ? amount.milli_value() : amount.value();
}

void check_admission(Value workload, FieldErrors& errors) {
  const Value assignments = workload.get({"status", "admission", "podSetAssignments"});
  const Path path = Path("status").child("admission").child("podSetAssignments");
  const ItemsBy pod_sets(workload.get({"spec", "podSets"}), "name");
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const Value assignment = assignments.item(i);
    const std::string_view name = text_of(assignment, "name");
    if (!pod_sets.contains(name)) errors.not_found(path.index(i).child("name"), name);
    const std::int64_t count = int_of(assignment, "count");
    if (count <= 0) continue;
    for (const json::Member& usage : assignment.get("resourceUsage").members()) {
      const auto amount = quantity_of(usage.value);
      if (amount && count_amount(usage.key, *amount) % count != 0)
        errors.invalid(path.index(i).child("resourceUsage").key(usage.key), usage.value,
                       fmt::format("is not a multiple of {}", count));
    }
  }
}

std::vector<std::string_view> pod_set_names(Value workload) {
  std::vector<std::string_view> names;
  for (const Value pod_set : workload.get({"spec", "podSets"}).items())
    names.push_back(text_of(pod_set, "name"));
  return names;
}

void check_reclaimable(Value workload, FieldErrors& errors) {
  const Path path = Path("status").child("reclaimablePods");
  const ItemsBy pod_sets(workload.get({"spec", "podSets"}), "name");
  for (const Value reclaimable : workload.get({"status", "reclaimablePods"}).items()) {
    const std::string_view name = text_of(reclaimable, "name");
    const Value pod_set = pod_sets.find(name);
    if (pod_set.is_null())
      errors.not_supported(path.key(name).child("name"), name, pod_set_names(workload));
    else if (int_of(reclaimable, "count") > int_of(pod_set, "count"))
      errors.invalid(path.key(name).child("count"), reclaimable.get("count"),
                     fmt::format("should be less or equal to {}", int_of(pod_set, "count")));
  }
}

void check_pod_set_updates(Value workload, FieldErrors& errors) {
  const Value checks = workload.get({"status", "admissionChecks"});
  auto names = pod_set_names(workload);
  std::ranges::sort(names);
  for (std::size_t c = 0; c < checks.size(); ++c) {
    const Value updates = checks.item(c).get("podSetUpdates");
    for (std::size_t u = 0; u < updates.size(); ++u) {
      const Value update = updates.item(u);
      const Path path =
          Path("status").child("admissionChecks").index(c).child("podSetUpdates").index(u);
      const std::string_view name = text_of(update, "name");
      if (!std::ranges::binary_search(names, name))
        errors.not_supported(path.child("name"), name, names);
      check_toleration_keys(update.get("tolerations"), path.child("tolerations"), errors);
      api::validate_annotations(update.get("annotations"), path.child("annotations"), errors);
      api::validate_labels(update.get("nodeSelector"), path.child("nodeSelector"), errors);
      api::validate_labels(update.get("labels"), path.child("labels"), errors);
    }
  }
}

void check_fixed_pod_sets(const Context& context, Value now, Value before, FieldErrors& errors) {
  const Path path = Path("spec").child("podSets");
  if (now.size() != before.size()) return errors.invalid(path, now, kImmutable);
  const bool elastic = context.gates->enabled("ElasticJobsViaWorkloadSlices");
  for (std::size_t i = 0; i < now.size(); ++i) {
    Value pod_set = now.item(i);
    if (elastic && int_of(pod_set, "count") < int_of(before.item(i), "count")) {
      pod_set = json::clone(pod_set.arena(), pod_set);
      take_member(pod_set, before.item(i), "count");
    }
    if (!json::equal(pod_set, before.item(i)))
      errors.invalid(path.child(std::to_string(i)), now.item(i), kImmutable);
  }
}

// What was given back stays given back while the rest is held.
void check_reclaimable_grows(Value now, Value before, FieldErrors& errors) {
  const Path path = Path("status").child("reclaimablePods");
  const ItemsBy by_name(now, "name");
  for (const Value was : before.items()) {
    const std::string_view name = text_of(was, "name");
    const Value is = by_name.find(name);
    if (is.is_null())
      errors.required(path.key(name), "cannot be removed");
    else if (int_of(is, "count") < int_of(was, "count"))
      errors.invalid(path.key(name).child("count"), is.get("count"),
                     fmt::format("cannot be less then {}", int_of(was, "count")));
  }
}

// May be set and unset; inside only the topology may change.
void check_fixed_admission(Value now, Value before, FieldErrors& errors) {
  if (now.is_null() || before.is_null()) return;
  const Value munged = json::clone(now.arena(), now);
  const Value assignments = munged.get("podSetAssignments");
  const Value old_assignments = before.get("podSetAssignments");
  for (std::size_t i = 0; i < std::min(assignments.size(), old_assignments.size()); ++i)
    for (const std::string_view key : {"topologyAssignment", "delayedTopologyRequest"})
      take_member(assignments.item(i), old_assignments.item(i), key);
  if (!json::equal(munged, before))
    errors.invalid(Path("status").child("admission"), now, kImmutable);
}

void check_fixed_updates(Value now, Value before, FieldErrors& errors) {
  const ItemsBy by_name(now, "name");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Value was = before.item(i);
    const Value is = by_name.find(text_of(was, "name"));
    if (text_of(was, "state") == "Ready" && text_of(is, "state") == "Ready")
      require_unchanged(is, was, "podSetUpdates", Path("status").child("admissionChecks").index(i),
                        errors);
  }
}

}  // namespace

void admit_workload(const Context&, Value workload, FieldErrors& errors) {
  check_pod_sets(workload.get({"spec", "podSets"}), errors);
  if (reserved(workload)) check_admission(workload, errors);
  check_reclaimable(workload, errors);
  check_pod_set_updates(workload, errors);
}

void admit_workload_update(const Context& context, Value workload, Value old, FieldErrors& errors) {
  admit_workload(context, workload, errors);
  const Value status = workload.get("status");
  const Value before = old.get("status");
  if (reserved(old))
    check_fixed_pod_sets(context, workload.get({"spec", "podSets"}), old.get({"spec", "podSets"}),
                         errors);
  if (reserved(old) && reserved(workload))
    check_reclaimable_grows(status.get("reclaimablePods"), before.get("reclaimablePods"), errors);
  check_fixed_admission(status.get("admission"), before.get("admission"), errors);
  check_fixed_updates(status.get("admissionChecks"), before.get("admissionChecks"), errors);
}

constinit const Kind kKueueWorkload = {
    .group = "kueue.x-k8s.io",
    .name = "Workload",
    .mutate = drop_disabled_fields,
    .validate = validate_workload_rules,
    .validate_update = validate_workload_transitions,
    .admit_create = admit_workload,
    .admit_update = admit_workload_update,
    .admit_subresource = admit_workload_update,
};

}  // namespace muster::admission
