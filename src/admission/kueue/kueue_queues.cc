// ClusterQueue, Cohort and LocalQueue (spec: queueing 1.3 to 1.5). First the CEL rules of their
// definitions (validate_…), then what the webhooks ask (admit_…).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "admission/kinds.h"
#include "admission/kueue/kueue.h"
#include "admission/rules/checks.h"
#include "admission/rules/custom_resource.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

constexpr int kMostFlavors = 256;
constexpr int kMostResources = 256;
constexpr int kMostQuotas = 512;  // flavors times resources, in one group

// How the two kinds with quota differ.
struct QuotaRules {
  bool has_parent = false;
  std::string_view parent;  // what it is called in messages
  bool lends_at_most_nominal = false;
};

void check_group_rules(Value groups, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t covered = groups.item(i).get("coveredResources").size();
    const bool same = std::ranges::all_of(groups.item(i).get("flavors").items(), [&](Value flavor) {
      return flavor.get("resources").size() == covered;
    });
    if (!same)
      rule_broken(errors, path.index(i),
                  "flavors must have the same number of resources as the coveredResources");
  }
}

bool sets_borrowing_limit(Value groups) {
  for (const Value group : groups.items())
    for (const Value flavor : group.get("flavors").items())
      for (const Value resource : flavor.get("resources").items())
        if (resource.has("borrowingLimit")) return true;
  return false;
}

void check_fungibility(Value fungibility, const Path& path, FieldErrors& errors) {
  if (fungibility.has("preference") && !(text_of(fungibility, "whenCanBorrow") == "TryNextFlavor" &&
                                         text_of(fungibility, "whenCanPreempt") == "TryNextFlavor"))
    rule_broken(errors, path,
                "preference can only be set when both whenCanBorrow and whenCanPreempt are "
                "TryNextFlavor");
}

void validate_cluster_queue_rules(const Context& context, Value queue, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = queue.get("spec");
  check_fungibility(spec.get("flavorFungibility"), path.child("flavorFungibility"), errors);
  const Value preemption = spec.get("preemption");
  const Value borrowing = preemption.get("borrowWithinCohort");
  if (text_of(preemption, "reclaimWithinCohort") == "Never" && borrowing.is_object() &&
      text_of(borrowing, "policy") != "Never")
    rule_broken(errors, path.child("preemption"),
                "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never");
  check_group_rules(spec.get("resourceGroups"), path.child("resourceGroups"), errors);
  if (!spec.has(is_v1beta1(context) ? "cohort" : "cohortName") &&
      sets_borrowing_limit(spec.get("resourceGroups")))
    rule_broken(errors, path, "borrowingLimit must be nil when cohort is empty");
}

void validate_cohort_rules(const Context&, Value cohort, FieldErrors& errors) {
  check_group_rules(cohort.get({"spec", "resourceGroups"}), Path("spec").child("resourceGroups"),
                    errors);
}

void validate_local_queue_transitions(const Context&, Value queue, Value old, FieldErrors& errors) {
  require_same(errors, Path("spec").child("clusterQueue"), queue.get({"spec", "clusterQueue"}),
               old.get({"spec", "clusterQueue"}), kImmutable);
}

void check_amount(Value holder, std::string_view key, const Path& path, FieldErrors& errors) {
  const auto amount = quantity_of(holder.get(key));
  if (amount && amount->is_negative())
    errors.invalid(path.child(key), amount->text(), kNotNegative);
}

void check_limit(Value quota, std::string_view key, const QuotaRules& rules, const Path& path,
                 FieldErrors& errors) {
  const auto limit = quantity_of(quota.get(key));
  if (!limit) return;
  if (!rules.has_parent)
    errors.invalid(path.child(key), limit->text(),
                   fmt::format("must be nil when {} is empty", rules.parent));
  check_amount(quota, key, path, errors);
}

void check_quota(Value quota, Value covered, std::size_t place, const QuotaRules& rules,
                 const Path& path, FieldErrors& errors) {
  if (text_of(quota, "name") != covered.item(place).as_string())
    errors.invalid(path.child("name"), text_of(quota, "name"),
                   "must match the name in coveredResources");
  check_amount(quota, "nominalQuota", path, errors);
  check_limit(quota, "borrowingLimit", rules, path, errors);
  check_limit(quota, "lendingLimit", rules, path, errors);
  const auto lent = quantity_of(quota.get("lendingLimit"));
  const auto nominal = quantity_of(quota.get("nominalQuota"));
  if (rules.lends_at_most_nominal && lent && nominal && *lent > *nominal)
    errors.invalid(path.child("lendingLimit"), lent->text(),
                   "must be less than or equal to the nominalQuota");
}

// What has been seen in the groups before.
struct Seen {
  std::set<std::string_view> resources;
  std::set<std::string_view> flavors;
};

void check_group(Value group, const QuotaRules& rules, Seen& seen, const Path& path,
                 FieldErrors& errors) {
  const Value covered = group.get("coveredResources");
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const std::string_view name = covered.item(i).as_string();
    const Path at = path.child("coveredResources").index(i);
    add_faults(errors, at, name, api::check_qualified_name(name));
    if (!seen.resources.insert(name).second) errors.duplicate(at, name);
  }
  const Value flavors = group.get("flavors");
  for (std::size_t i = 0; i < flavors.size(); ++i) {
    const Path at = path.child("flavors").index(i);
    const Value quotas = flavors.item(i).get("resources");
    for (std::size_t q = 0; q < std::min(quotas.size(), covered.size()); ++q)
      check_quota(quotas.item(q), covered, q, rules, at.child("resources").index(q), errors);
    const std::string_view name = text_of(flavors.item(i), "name");
    if (!seen.flavors.insert(name).second) errors.duplicate(at.child("name"), name);
  }
  if (flavors.size() * covered.size() > kMostQuotas)
    errors.too_many(path.child("flavors"), flavors.size() * covered.size(), kMostQuotas);
}

void check_groups(Value spec, const QuotaRules& rules, FieldErrors& errors) {
  const Path path = Path("spec").child("resourceGroups");
  const Value groups = spec.get("resourceGroups");
  Seen seen;
  for (std::size_t i = 0; i < groups.size(); ++i)
    check_group(groups.item(i), rules, seen, path.index(i), errors);
  if (seen.flavors.size() > kMostFlavors) errors.too_many(path, seen.flavors.size(), kMostFlavors);
  if (seen.resources.size() > kMostResources)
    errors.too_many(path, seen.resources.size(), kMostResources);
}

void check_weight(Value spec, FieldErrors& errors) {
  const auto weight = quantity_of(spec.get({"fairSharing", "weight"}));
  if (!weight) return;
  const Path path = Path("spec").child("fairSharing");
  const auto least = api::Quantity::parse("1n");
  if (weight->is_negative())
    errors.invalid(path, weight->text(), kNotNegative);
  else if (!weight->is_zero() && *weight <= *least)
    errors.invalid(path, weight->text(), "When not 0, weight must be > 10e-9");
}

std::set<std::string_view> flavors_of(Value spec) {
  std::set<std::string_view> names;
  for (const Value group : spec.get("resourceGroups").items())
    for (const Value flavor : group.get("flavors").items()) names.insert(text_of(flavor, "name"));
  return names;
}

void check_admission_checks(Value spec, FieldErrors& errors) {
  const Value checks = spec.get({"admissionChecksStrategy", "admissionChecks"});
  const Path path = Path("spec").child("admissionChecksStrategy").child("admissionChecks");
  if (checks.is_array() && !spec.get("admissionChecks").empty())
    errors.invalid(Path("spec"), spec,
                   "Either AdmissionChecks or AdmissionCheckStrategy can be set, but not both");
  const std::set<std::string_view> known = flavors_of(spec);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Value flavors = checks.item(i).get("onFlavors");
    for (std::size_t f = 0; f < flavors.size(); ++f)
      if (!known.contains(flavors.item(f).as_string()))
        errors.not_found(path.index(i).child("onFlavors").index(f), flavors.item(f).as_string());
  }
}

void admit_cluster_queue(const Context& context, Value queue, FieldErrors& errors) {
  const Value spec = queue.get("spec");
  const std::string_view cohort = text_of(spec, is_v1beta1(context) ? "cohort" : "cohortName");
  check_groups(spec,
               {.has_parent = !cohort.empty(), .parent = "cohort", .lends_at_most_nominal = true},
               errors);
  validate_label_selector(spec.get("namespaceSelector"), Path("spec").child("namespaceSelector"),
                          errors);
  check_admission_checks(spec, errors);
  check_weight(spec, errors);
}

void admit_cohort(const Context&, Value cohort, FieldErrors& errors) {
  const Value spec = cohort.get("spec");
  check_groups(spec, {.has_parent = !text_of(spec, "parentName").empty(), .parent = "parent"},
               errors);
  check_weight(spec, errors);
}

void admit_local_queue(const Context&, Value queue, FieldErrors& errors) {
  check_weight(queue.get("spec"), errors);
}

}  // namespace

constinit const Kind kClusterQueue = {
    .group = "kueue.x-k8s.io",
    .name = "ClusterQueue",
    .mutate = keep_while_in_use,
    .validate = validate_cluster_queue_rules,
    .admit_create = admit_cluster_queue,
};

constinit const Kind kCohort = {
    .group = "kueue.x-k8s.io",
    .name = "Cohort",
    .validate = validate_cohort_rules,
    .admit_create = admit_cohort,
};

constinit const Kind kLocalQueue = {
    .group = "kueue.x-k8s.io",
    .name = "LocalQueue",
    .validate_update = validate_local_queue_transitions,
    .admit_create = admit_local_queue,
};

}  // namespace muster::admission
