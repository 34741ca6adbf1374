// What may change in a Job (spec: job 1.6, 5).
#include <fmt/format.h>

#include "admission/feature_gates.h"
#include "admission/job/job_validation.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

void validate_completions(Value spec, Value old, const Path& path, FieldErrors& errors) {
  const Value now = spec.get("completions");
  if (json::equal(now, old.get("completions"))) return;
  if (!is_indexed(spec)) return errors.invalid(path.child("completions"), now, kImmutable);
  if (!json::equal(now, spec.get("parallelism")))
    errors.invalid(path.child("completions"), now,
                   "can only be modified in tandem with spec.parallelism");
}

// Nothing of the old template is in use: no pod runs, and none will be made before the next resume.
bool template_is_idle(Value old) {
  const Value status = old.get("status");
  return old.get({"spec", "suspend"}).as_bool() && int_of(status, "active") == 0 &&
         (!has_value(status, "startTime") || condition_true(old, "Suspended"));
}

void put_back_directives(Value pod, Value old) {
  for (const std::string_view key : {"nodeSelector", "tolerations", "schedulingGates"})
    take_member(pod, old, key);
  const Value affinity = pod.object_at("affinity");
  take_member(affinity, old.get("affinity"), "nodeAffinity");
  if (affinity.empty() && !has_value(old, "affinity")) pod.erase("affinity");
}

void put_back_resources(Value pod, Value old) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    const Value now = pod.get(list);
    const Value before = old.get(list);
    if (now.size() != before.size()) continue;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (text_of(now.item(i), "name") == text_of(before.item(i), "name"))
        take_member(now.item(i), before.item(i), "resources");
  }
}

void validate_template(const Context& context, Value job, Value old, const Path& path,
                       FieldErrors& errors) {
  const Value now = job.get({"spec", "template"});
  const Value before = old.get({"spec", "template"});
  if (!template_is_idle(old)) {
    require_unchanged(job.get("spec"), old.get("spec"), "template", path, errors);
    return;
  }
  const Value munged = json::clone(now.arena(), now.get("spec"));
  if (context.gates->enabled("MutableSchedulingDirectivesForSuspendedJobs"))
    put_back_directives(munged, before.get("spec"));
  if (context.gates->enabled("MutablePodResourcesForSuspendedJobs"))
    put_back_resources(munged, before.get("spec"));
  if (!json::equal(munged, before.get("spec")))
    errors.invalid(path.child("template").child("spec"), now.get("spec"), kImmutable);
}

}  // namespace

void validate_job_update(const Context& context, Value job, Value old, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = job.get("spec");
  const Value before = old.get("spec");
  // Upstream looks at the spec a second time here: causes show twice.
  validate_job_template_spec(spec, path, errors);
  validate_job_selector(spec, path, errors);
  validate_completions(spec, before, path, errors);
  require_unchanged(spec, before, "selector", path, errors);
  validate_template(context, job, old, path, errors);
  for (const std::string_view key :
       {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"})
    require_unchanged(spec, before, key, path, errors);
}

}  // namespace muster::admission
