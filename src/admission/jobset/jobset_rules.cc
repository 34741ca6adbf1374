// The CEL rules of the JobSet definition (spec: jobset 1.2).
#include "admission/jobset/jobset.h"
#include "admission/rules/custom_resource.h"
#include "admission/rules/edit.h"
#include "admission/rules/list_index.h"

namespace muster::admission {
namespace {

constexpr std::string_view kFixed = "Value is immutable";

}  // namespace

void validate_jobset_rules(const Context&, Value jobset, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = jobset.get("spec");
  const Value policies = spec.get("volumeClaimPolicies");
  for (std::size_t i = 0; i < policies.size(); ++i) {
    for (const Value claim : policies.item(i).get("templates").items()) {
      if (text_of(claim.get("metadata"), "namespace").empty()) continue;
      rule_broken(errors, path.child("volumeClaimPolicies").index(i),
                  "namespace cannot be set for VolumeClaimPolicies templates");
      break;
    }
  }
  if (text_of(spec.get("startupPolicy"), "startupPolicyOrder") != "InOrder") return;
  for (const Value job : spec.get("replicatedJobs").items())
    if (has_value(job, "dependsOn"))
      return rule_broken(errors, path, "StartupPolicy and DependsOn APIs are mutually exclusive");
}

void validate_jobset_transitions(const Context&, Value jobset, Value old, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = jobset.get("spec");
  const Value before = old.get("spec");
  for (const std::string_view key :
       {"failurePolicy", "gangConfig", "groupSchedulingConfig", "network", "startupPolicy",
        "successPolicy", "volumeClaimPolicies"})
    require_same(errors, path.child(key), spec.get(key), before.get(key), kFixed);
  const Value jobs = spec.get("replicatedJobs");
  const ItemsBy old_jobs(before.get("replicatedJobs"), "name");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Value match = old_jobs.find(text_of(jobs.item(i), "name"));
    for (const std::string_view key : {"dependsOn", "gangConfig"})
      require_same(errors, path.child("replicatedJobs").index(i).child(key), jobs.item(i).get(key),
                   match.get(key), kFixed);
  }
}

}  // namespace muster::admission
