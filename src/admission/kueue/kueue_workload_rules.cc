// The CEL rules of Kueue's Workload, in both versions.
#include <algorithm>

#include "admission/kueue/kueue.h"
#include "admission/rules/custom_resource.h"
#include "admission/rules/edit.h"

namespace muster::admission {
namespace {

constexpr std::string_view kWorkloadPriority = "kueue.x-k8s.io/workloadpriorityclass";

bool reserved(Value workload) { return condition_true(workload, "QuotaReserved"); }

void check_priority_class(const Context& context, Value spec, FieldErrors& errors) {
  const Path path("spec");
  if (is_v1beta1(context)) {
    if (spec.has("priorityClassName") && !spec.has("priority"))
      rule_broken(errors, path, "priority should not be nil when priorityClassName is set");
    return;
  }
  const Value ref = spec.get("priorityClassRef");
  const std::string_view group = text_of(ref, "group");
  const std::string_view kind = text_of(ref, "kind");
  if (group == "scheduling.k8s.io" && kind != "PriorityClass")
    rule_broken(errors, path.child("priorityClassRef"),
                "only the PriorityClass kind is allowed for the scheduling.k8s.io group");
  if (group == "kueue.x-k8s.io" && kind != "WorkloadPriorityClass")
    rule_broken(errors, path.child("priorityClassRef"),
                "only the WorkloadPriorityClass kind is allowed for the kueue.x-k8s.io group");
  if (ref.is_object() && !spec.has("priority"))
    rule_broken(errors, path, "priority should not be nil when priorityClassRef is set");
}

bool has_exactly_one(Value object, std::string_view a, std::string_view b) {
  return object.has(a) != object.has(b);
}

void check_slice(Value slice, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kOne =
      "exactly one of the fields in [universal individual] must be set";
  const auto domains = static_cast<std::size_t>(int_of(slice, "domainCount"));
  const Value counts = slice.get("podCounts");
  if (counts.is_object() && !has_exactly_one(counts, "universal", "individual"))
    rule_broken(errors, path.child("podCounts"), kOne);
  const Value levels = slice.get("valuesPerLevel");
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (!has_exactly_one(levels.item(i), "universal", "individual"))
      rule_broken(errors, path.child("valuesPerLevel").index(i), kOne);
  if (counts.has("individual") && counts.get("individual").size() != domains)
    rule_broken(errors, path, "podCounts.individual must have length equal to domainCount");
  const bool rooted = std::ranges::all_of(levels.items(), [&](Value level) {
    return !level.has("individual") || level.get({"individual", "roots"}).size() == domains;
  });
  if (!rooted)
    rule_broken(
        errors, path,
        "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of "
        "this TopologyAssignmentSlice");
}

void check_assignments(Value status, FieldErrors& errors) {
  const Value assignments = status.get({"admission", "podSetAssignments"});
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const Value topology = assignments.item(i).get("topologyAssignment");
    const Path path = Path("status")
                          .child("admission")
                          .child("podSetAssignments")
                          .index(i)
                          .child("topologyAssignment");
    const Value slices = topology.get("slices");
    for (std::size_t s = 0; s < slices.size(); ++s)
      check_slice(slices.item(s), path.child("slices").index(s), errors);
    const std::size_t depth = topology.get("levels").size();
    if (!std::ranges::all_of(slices.items(),
                             [&](Value s) { return s.get("valuesPerLevel").size() == depth; }))
      rule_broken(errors, path,
                  "valuesPerLevel must have the same length as the number of levels in this "
                  "TopologyAssignment");
  }
}

void check_update_tolerations(Value status, FieldErrors& errors) {
  const Value checks = status.get("admissionChecks");
  for (std::size_t c = 0; c < checks.size(); ++c) {
    const Value updates = checks.item(c).get("podSetUpdates");
    for (std::size_t u = 0; u < updates.size(); ++u)
      check_toleration_rules(updates.item(u).get("tolerations"),
                             Path("status")
                                 .child("admissionChecks")
                                 .index(c)
                                 .child("podSetUpdates")
                                 .index(u)
                                 .child("tolerations"),
                             errors);
  }
}

void check_class_stays(const Context& context, Value spec, Value before, FieldErrors& errors) {
  if (is_v1beta1(context)) {
    const Value source = spec.get("priorityClassSource");
    const Value old_source = before.get("priorityClassSource");
    if (source.is_null() || old_source.is_null()) return;
    if (!json::equal(source, old_source))
      rule_broken(errors, Path(), "priorityClassSource is immutable while workload quota reserved");
    const bool named = spec.has("priorityClassName") && before.has("priorityClassName");
    if (source.as_string() != kWorkloadPriority && named &&
        text_of(spec, "priorityClassName") != text_of(before, "priorityClassName"))
      rule_broken(errors, Path(),
                  "priorityClassName is immutable while workload quota reserved and "
                  "priorityClassSource is not equal to kueue.x-k8s.io/workloadpriorityclass");
    return;
  }
  const Value ref = spec.get("priorityClassRef");
  const Value old_ref = before.get("priorityClassRef");
  if (ref.is_null() != old_ref.is_null())
    return rule_broken(errors, Path(),
                       "priorityClassRef is immutable while workload quota reserved");
  if (ref.is_null()) return;
  if (text_of(ref, "group") != text_of(old_ref, "group"))
    rule_broken(errors, Path(),
                "priorityClassRef.group is immutable while workload quota reserved");
  if (text_of(ref, "kind") != text_of(old_ref, "kind"))
    rule_broken(errors, Path(), "priorityClassRef.kind is immutable while workload quota reserved");
  if (text_of(ref, "group") == "scheduling.k8s.io" && text_of(ref, "kind") == "PriorityClass" &&
      text_of(ref, "name") != text_of(old_ref, "name"))
    rule_broken(
        errors, Path(),
        "priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass while workload "
        "quota reserved");
}

}  // namespace

void validate_workload_rules(const Context& context, Value workload, FieldErrors& errors) {
  const Value spec = workload.get("spec");
  const Value status = workload.get("status");
  const Value pod_sets = spec.get("podSets");
  for (std::size_t i = 0; i < pod_sets.size(); ++i)
    if (pod_sets.item(i).has("minCount") &&
        int_of(pod_sets.item(i), "minCount") > int_of(pod_sets.item(i), "count"))
      rule_broken(errors, Path("spec").child("podSets").index(i),
                  "minCount should be positive and less or equal to count");
  check_priority_class(context, spec, errors);
  if (!is_v1beta1(context)) check_assignments(status, errors);
  check_update_tolerations(status, errors);
  if (status.has("clusterName") && !status.get("nominatedClusterNames").empty())
    rule_broken(errors, Path("status"),
                "clusterName and nominatedClusterNames are mutually exclusive");
  if (reserved(workload) && status.has("admission") &&
      pod_sets.size() != status.get({"admission", "podSetAssignments"}).size())
    rule_broken(errors, Path(),
                "podSetAssignments must have the same number of podSets as the spec");
}

void validate_workload_transitions(const Context& context, Value workload, Value old,
                                   FieldErrors& errors) {
  const Value spec = workload.get("spec");
  const Value before = old.get("spec");
  require_same(errors, Path("status"), workload.get({"status", "clusterName"}),
               old.get({"status", "clusterName"}), "clusterName is immutable once set");
  if (reserved(old)) check_class_stays(context, spec, before, errors);
  if (reserved(old) && reserved(workload) &&
      !json::equal(spec.get("queueName"), before.get("queueName")))
    rule_broken(errors, Path(), "queueName is immutable while workload quota reserved");
  if (condition_true(old, "Admitted") && condition_true(workload, "Admitted") &&
      int_of(spec, "maximumExecutionTimeSeconds") != int_of(before, "maximumExecutionTimeSeconds"))
    rule_broken(errors, Path(),
                "maximumExecutionTimeSeconds is immutable while workload quota reserved");
}

}  // namespace muster::admission
