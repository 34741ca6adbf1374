// JobSet's validating webhook on update (spec: jobset 2.3): the list of replicated jobs stays as it
// is, but for what queueing must be able to change while the set is suspended, and for elastic
// counts.
#include <algorithm>

#include "admission/feature_gates.h"
#include "admission/jobset/jobset.h"
#include "admission/kueue/kueue_job.h"
#include "admission/rules/checks.h"
#include "admission/rules/list_index.h"
#include "admission/rules/same_meaning.h"
#include "api/schema/registry.h"

namespace muster::admission {
namespace {

Path spec_path() { return Path("spec"); }

bool suspended(Value jobset) { return jobset.get({"spec", "suspend"}).as_bool(); }

void put_back_queue_directives(Value job, Value old) {
  const Value pod = job.get({"template", "spec", "template"});
  const Value before = old.get({"template", "spec", "template"});
  if (!pod.is_object()) return;
  const Value metadata = pod.object_at("metadata");
  for (const std::string_view key : {"annotations", "labels"})
    take_member(metadata, before.get("metadata"), key);
  const Value spec = pod.get("spec");
  if (!spec.is_object()) return;
  for (const std::string_view key : {"nodeSelector", "tolerations", "schedulingGates"})
    take_member(spec, before.get("spec"), key);
}

void check_counts(Value spec, Value old, bool terminal, const Path& path, FieldErrors& errors) {
  bool changed = false;
  for (const std::string_view key : {"parallelism", "completions"})
    changed = changed || !json::equal(spec.get(key), old.get(key));
  if (!changed) return;
  if (terminal)
    return errors.forbidden(path,
                            "Cannot mutate parallelism or completions when JobSet is in a "
                            "terminal state (Completed or Failed)");
  for (const std::string_view key : {"parallelism", "completions"})
    if (!json::equal(spec.get(key), old.get(key)) && int_of(spec, key, 1) < 1)
      errors.invalid(path.child(key), spec.get(key), std::string(key) + " must be >= 1");
  if (has_value(spec, "parallelism") && has_value(spec, "completions") &&
      !json::equal(spec.get("parallelism"), spec.get("completions")))
    errors.invalid(path.child("completions"), spec.get("completions"),
                   "completions must be equal to parallelism for Elastic Indexed Jobs");
}

// `job` gets its old counts back once they have been judged.
void allow_elastic_counts(Value job, Value old, bool terminal, const Path& path,
                          FieldErrors& errors) {
  const Value spec = job.get({"template", "spec"});
  const Value before = old.get({"template", "spec"});
  if (text_of(spec, "completionMode") != "Indexed") return;
  check_counts(spec, before, terminal, path.child("template").child("spec"), errors);
  for (const std::string_view key : {"parallelism", "completions"}) take_member(spec, before, key);
}

bool has_items(Value value) { return !value.is_null() && !(value.is_array() && value.empty()); }

bool same_entry(Value a, Value b, const api::Schema& job_template) {
  const auto same_members = [&](Value one, Value other) {
    return std::ranges::all_of(one.members(), [&](const json::Member& each) {
      const Value match = other.get(each.key);
      if (each.key == "template") return same_meaning(each.value, match, job_template);
      return json::equal(each.value, match) || (!has_items(each.value) && !has_items(match));
    });
  };
  return same_members(a, b) && same_members(b, a);
}

// The list as it would be if it were created today. A list that was stored without defaults equals
// the one that an update brings, which has them.
Value with_defaults(Value jobs) {
  const Value out = json::clone(jobs.arena(), jobs);
  default_replicated_jobs(out);
  return out;
}

// In the same order; each may have gone through a program that writes it in another form.
bool same_entries(Value a, Value b) {
  static const api::Schema& job_template =
      *api::Registry::builtin().type("io.k8s.api.batch.v1.JobTemplateSpec");
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_entry(a.item(i), b.item(i), job_template)) return false;
  return true;
}

}  // namespace

void admit_jobset_update(const Context& context, Value jobset, Value old, FieldErrors& errors) {
  const Value spec = jobset.get("spec");
  const Value before = old.get("spec");
  const Value jobs = json::clone(jobset.arena(), spec.get("replicatedJobs"));
  const bool may_place_anew = suspended(old) || suspended(jobset);
  const bool elastic = context.gates->enabled("ElasticJobSet");
  const bool terminal = condition_true(old, "Completed") || condition_true(old, "Failed");
  const ItemsBy old_jobs(before.get("replicatedJobs"), "name");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Value job = jobs.item(i);
    const Value match = old_jobs.find(text_of(job, "name"));
    if (match.is_null()) continue;
    if (elastic)
      allow_elastic_counts(job, match, terminal, spec_path().child("replicatedJobs").index(i),
                           errors);
    if (may_place_anew) put_back_queue_directives(job, match);
  }
  if (!same_entries(jobs, before.get("replicatedJobs")) &&
      !same_entries(jobs, with_defaults(before.get("replicatedJobs"))))
    errors.invalid(spec_path().child("replicatedJobs"), spec.get("replicatedJobs"), kImmutable);
  // The rules of the definition compare only values that are there before and after. Pods of
  // running Jobs follow these two fields, so neither may come later or go.
  for (const std::string_view key : {"managedBy", "gangConfig", "groupSchedulingConfig"})
    require_unchanged(spec, before, key, spec_path(), errors);
  // Pods at the barrier wait for the coordinator's name, which their Jobs were made with.
  if (has_value(before, "groupSchedulingConfig"))
    require_unchanged(spec, before, "coordinator", spec_path(), errors);
  validate_queued_update(context, jobset, old, errors);
}

}  // namespace muster::admission
