// What JobSet's mutating webhook fills in (spec: jobset 2.1). The types have not been judged yet
// when this runs, so every step looks before it writes.
#include <fmt/format.h>

#include <algorithm>

#include "admission/feature_gates.h"
#include "admission/jobset/jobset.h"
#include "admission/kueue/kueue_job.h"
#include "admission/rules/edit.h"

namespace muster::admission {
namespace {

void default_policy(Value spec, std::string_view key, std::string_view field, const char* value) {
  if (has_value(spec, key)) return;
  spec.object_at(key).set(field, Value::view(value));
}

void default_replicated_job(Value job) {
  const Value spec = job.get({"template", "spec"});
  if (!spec.is_object()) return;
  set_default(spec, "completionMode", "Indexed");
  const Value pod = spec.get({"template", "spec"});
  if (pod.is_object() &&
      (!has_value(pod, "restartPolicy") || pod.get("restartPolicy").is_string()) &&
      text_of(pod, "restartPolicy").empty())
    pod.set("restartPolicy", Value::view("OnFailure"));
}

void default_network(Value spec) {
  const Value network = spec.object_at("network");
  if (!network.is_object()) return;
  set_default(network, "enableDNSHostnames", Value::of(true));
  set_default(network, "publishNotReadyAddresses", Value::of(true));
}

void default_rule_names(Value rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Value rule = rules.item(i);
    if (!rule.is_object() || !(rule.get("name").is_null() || rule.get("name").is_string()))
      continue;
    if (text_of(rule, "name").empty()) rule.set("name", fmt::format("failurePolicyRule{}", i));
  }
}

void default_retention(Value policies) {
  for (const Value policy : policies.items())
    if (policy.is_object() && !has_value(policy, "retentionPolicy"))
      policy.object_at("retentionPolicy").set("whenDeleted", Value::view("Delete"));
}

void drop(const Context& context, Value holder, std::string_view key, std::string_view path,
          std::string_view gate) {
  if (!holder.is_object() || !holder.erase(key) || !context.warnings) return;
  context.warnings->push_back(
      fmt::format("{}.{}: dropped, because the feature gate {} is off", path, key, gate));
}

bool any_has(Value list, std::string_view key) {
  return std::ranges::any_of(list.items(), [key](Value each) { return has_value(each, key); });
}

// `before` is the spec that was; null on create.
void drop_disabled_fields(const Context& context, Value spec, Value before) {
  if (!context.gates->enabled("GroupScheduling") && !has_value(before, "groupSchedulingConfig"))
    drop(context, spec, "groupSchedulingConfig", "spec", "GroupScheduling");
  if (context.gates->enabled("GangConfig")) return;
  if (!has_value(before, "gangConfig")) drop(context, spec, "gangConfig", "spec", "GangConfig");
  const Value jobs = spec.get("replicatedJobs");
  if (any_has(before.get("replicatedJobs"), "gangConfig")) return;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    drop(context, jobs.item(i), "gangConfig", fmt::format("spec.replicatedJobs[{}]", i),
         "GangConfig");
}

}  // namespace

void default_replicated_jobs(Value jobs) {
  for (const Value job : jobs.items()) default_replicated_job(job);
}

Status mutate_jobset(const Context& context, Value jobset, Value old) {
  const Value spec = jobset.get("spec");
  drop_disabled_fields(context, spec, old.get("spec"));
  if (!spec.is_object() || !context.subresource.empty()) return {};
  default_policy(spec, "successPolicy", "operator", "All");
  default_policy(spec, "startupPolicy", "startupPolicyOrder", "AnyOrder");
  default_replicated_jobs(spec.get("replicatedJobs"));
  default_network(spec);
  default_rule_names(spec.get({"failurePolicy", "rules"}));
  default_retention(spec.get("volumeClaimPolicies"));
  return queue_on_create(context, jobset, old);
}

}  // namespace muster::admission
