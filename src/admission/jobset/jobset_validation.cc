// JobSet's validating webhook on create (spec: jobset 2.2). Upstream gives some of these texts
// without a path; here each has one, the text is the same.
#include <fmt/format.h>

#include <limits>
#include <set>

#include "admission/feature_gates.h"
#include "admission/jobset/jobset.h"
#include "admission/kueue/kueue_job.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr std::int64_t kMostPods = std::numeric_limits<std::int32_t>::max();
constexpr int kLongestManagedBy = 63;
constexpr std::string_view kTooLong = "must be no more than 63 characters";
Path spec_path() { return Path("spec"); }

// The faults of a DNS-1035 label, the one of length in other words.
void check_label(const JobSetCheck& check, const Path& path, std::string_view shown,
                 std::string_view label, std::string_view too_long) {
  for (const std::string& fault : api::check_dns1035_label(label))
    check.errors.invalid(
        path, shown,
        fault.find(kTooLong) == std::string::npos ? std::string_view(fault) : too_long);
}

bool restarts_in_place(const JobSetCheck& check) {
  return text_of(check.spec.get("failurePolicy"), "restartStrategy") == "InPlaceRestart";
}

void check_restart_strategy(const JobSetCheck& check) {
  if (restarts_in_place(check) && !check.context.gates->enabled("InPlaceRestart"))
    check.errors.invalid(
        spec_path().child("failurePolicy").child("restartStrategy"), "InPlaceRestart",
        "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature "
        "gate is disabled");
}

void check_first_has_no_dependency(const JobSetCheck& check) {
  const Value depends_on = check.spec.get("replicatedJobs").item(0).get("dependsOn");
  if (!depends_on.is_null())
    check.errors.invalid(spec_path().child("replicatedJobs").index(0).child("dependsOn"),
                         depends_on, "DependsOn can't be set for the first ReplicatedJob");
}

void check_subdomain(const JobSetCheck& check) {
  const std::string_view subdomain = text_of(check.spec.get("network"), "subdomain");
  if (subdomain.empty()) return;
  const Path path = spec_path().child("network").child("subdomain");
  add_faults(check.errors, path, subdomain, api::check_dns1123_subdomain(subdomain));
  check_label(check, path, subdomain, subdomain,
              ".spec.network.subdomain is too long, must be less than 63 characters");
}

void check_managed_by(const JobSetCheck& check) {
  if (!has_value(check.spec, "managedBy")) return;
  const std::string_view manager = text_of(check.spec, "managedBy");
  validate_domain_prefixed_path(manager, spec_path().child("managedBy"), check.errors);
  if (manager.size() > kLongestManagedBy)
    check.errors.too_long(spec_path().child("managedBy"), kLongestManagedBy);
}

void check_names(const JobSetCheck& check, Value job, const Path& path) {
  const std::string_view name = text_of(job, "name");
  const Value template_spec = job.get({"template", "spec"});
  const std::int64_t last = int_of(job, "replicas") - 1;
  check_label(check, path.child("groupName"), text_of(job, "groupName"), text_of(job, "groupName"),
              ".spec.replicatedJob[].groupName is too long, must be less than 63 characters");
  const std::string job_name = fmt::format("{}-{}-{}", check.name, name, last);
  check_label(check, path.child("name"), job_name, job_name,
              "JobSet name is too long, job names generated for this JobSet will exceed 63 "
              "characters");
  if (text_of(template_spec, "completionMode") != "Indexed" ||
      !has_value(template_spec, "completions"))
    return;
  const std::string pod_name =
      fmt::format("{}-{}-abcde", job_name, int_of(template_spec, "completions") - 1);
  check_label(check, path.child("name"), job_name, pod_name,
              "JobSet name is too long, pod names generated for this JobSet will exceed 63 "
              "characters");
}

void check_in_place_restart(const JobSetCheck& check, Value job, const Path& path) {
  if (!restarts_in_place(check) || !check.context.gates->enabled("InPlaceRestart")) return;
  const Value spec = job.get({"template", "spec"});
  const Path at = path.child("template").child("spec");
  const std::string_view name = text_of(job, "name");
  if (!has_value(spec, "backoffLimit") || int_of(spec, "backoffLimit") != kMostPods)
    check.errors.invalid(at.child("backoffLimit"), spec.get("backoffLimit"),
                         fmt::format("replicatedJob {}: must be set to {} (MaxInt32) when in-place "
                                     "restart is enabled",
                                     name, kMostPods));
  if (text_of(spec, "podReplacementPolicy") != "Failed")
    check.errors.invalid(
        at.child("podReplacementPolicy"), spec.get("podReplacementPolicy"),
        fmt::format("replicatedJob {}: must be set to Failed when in-place restart is enabled",
                    name));
  if (!has_value(spec, "completions") ||
      !json::equal(spec.get("completions"), spec.get("parallelism")))
    check.errors.invalid(
        at.child("completions"), spec.get("completions"),
        fmt::format("replicatedJob {}: completions and parallelism must be set and "
                    "equal to each other when in-place restart is enabled",
                    name));
}

// Only on what stands before it in the list; upstream lets an entry depend on itself, which never
// starts.
void check_dependencies(const JobSetCheck& check, Value job, const Path& path,
                        const std::set<std::string_view>& earlier) {
  const Value depends_on = job.get("dependsOn");
  for (std::size_t i = 0; i < depends_on.size(); ++i) {
    const std::string_view target = text_of(depends_on.item(i), "name");
    if (!earlier.contains(target))
      check.errors.invalid(path.child("dependsOn").index(i).child("name"), target,
                           fmt::format("replicatedJob: {} cannot depend on replicatedJob: {}",
                                       text_of(job, "name"), target));
  }
}

void check_replicated_jobs(const JobSetCheck& check) {
  std::set<std::string_view> earlier;
  const Value jobs = check.spec.get("replicatedJobs");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Value job = jobs.item(i);
    const Path path = spec_path().child("replicatedJobs").index(i);
    const std::int64_t parallelism = int_of(job.get({"template", "spec"}), "parallelism", 1);
    if (parallelism * int_of(job, "replicas") > kMostPods)
      check.errors.invalid(path.child("replicas"), job.get("replicas"),
                           fmt::format("the product of replicas and parallelism must not exceed {} "
                                       "for replicatedJob '{}'",
                                       kMostPods, text_of(job, "name")));
    check_names(check, job, path);
    check_dependencies(check, job, path, earlier);
    check_in_place_restart(check, job, path);
    earlier.insert(text_of(job, "name"));
  }
}

// Allowed, and hardly ever meant.
void warn_of_jobs_that_vanish(const JobSetCheck& check) {
  if (!check.context.warnings) return;
  const Value jobs = check.spec.get("replicatedJobs");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!has_value(jobs.item(i).get({"template", "spec"}), "ttlSecondsAfterFinished")) continue;
    check.context.warnings->push_back(fmt::format(
        "spec.replicatedJobs[{}].template.spec.ttlSecondsAfterFinished: a Job that is removed "
        "before the JobSet has finished is created and run again; spec.ttlSecondsAfterFinished "
        "removes the JobSet with its Jobs",
        i));
  }
}

void check_success_policy(const JobSetCheck& check) {
  const Value targets = check.spec.get({"successPolicy", "targetReplicatedJobs"});
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (check.replicated_job(targets.item(i).as_string()).is_null())
      check.errors.invalid(
          spec_path().child("successPolicy").child("targetReplicatedJobs").index(i),
          targets.item(i),
          fmt::format("invalid replicatedJob name '{}' does not appear in .spec.ReplicatedJobs",
                      targets.item(i).as_string()));
}

// The first fault only: each rests on the one before.
void check_coordinator_place(const JobSetCheck& check, Value coordinator) {
  const Path path = spec_path().child("coordinator");
  const std::string_view name = text_of(coordinator, "replicatedJob");
  const Value job = check.replicated_job(name);
  if (job.is_null())
    return check.errors.invalid(path.child("replicatedJob"), name,
                                fmt::format("coordinator replicatedJob {} does not exist", name));
  const std::int64_t job_index = int_of(coordinator, "jobIndex");
  if (job_index < 0 || job_index >= int_of(job, "replicas"))
    return check.errors.invalid(
        path.child("jobIndex"), Value::of(job_index),
        fmt::format("coordinator job index {} is invalid for replicatedJob {}", job_index, name));
  const Value spec = job.get({"template", "spec"});
  if (text_of(spec, "completionMode") != "Indexed" || !has_value(spec, "completions"))
    return check.errors.invalid(path.child("replicatedJob"), name,
                                "job for coordinator pod must be indexed completion mode, and "
                                "completions number must be set");
  const std::int64_t pod_index = int_of(coordinator, "podIndex");
  if (pod_index < 0 || pod_index >= int_of(spec, "completions"))
    check.errors.invalid(path.child("podIndex"), Value::of(pod_index),
                         fmt::format("coordinator pod index {} is invalid for replicatedJob {} job "
                                     "index {}",
                                     pod_index, name, job_index));
}

void check_coordinator(const JobSetCheck& check) {
  const Value coordinator = check.spec.get("coordinator");
  if (!coordinator.is_object()) return;
  check_coordinator_place(check, coordinator);
  const std::string_view subdomain = text_of(check.spec.get("network"), "subdomain");
  const std::string endpoint =
      fmt::format("{}-{}-{}-{}.{}", check.name, text_of(coordinator, "replicatedJob"),
                  int_of(coordinator, "jobIndex"), int_of(coordinator, "podIndex"),
                  subdomain.empty() ? std::string_view(check.name) : subdomain);
  const api::Faults faults = api::check_label_value(endpoint);
  if (!faults.empty())
    check.errors.invalid(
        spec_path().child("coordinator"), endpoint,
        fmt::format("spec will lead to invalid label value {} for coordinator label "
                    "\"jobset.sigs.k8s.io/coordinator\" (long JobSet / "
                    "ReplicatedJob / SubDomain name?): {}",
                    api::quote(endpoint), fmt::join(faults, ", ")));
}

// Of a name yet to be generated: the prefix, cut as the generator cuts it, and as many letters.
std::string name_for_checks(Value metadata) {
  constexpr std::size_t kLongestBase = 58;
  if (const std::string_view name = text_of(metadata, "name"); !name.empty())
    return std::string(name);
  const std::string_view base = text_of(metadata, "generateName");
  return base.empty() ? std::string() : std::string(base.substr(0, kLongestBase)) + "xxxxx";
}

}  // namespace

Value JobSetCheck::replicated_job(std::string_view job_name) const {
  const auto found = replicated_jobs.find(job_name);
  return found == replicated_jobs.end() ? Value() : found->second;
}

bool is_sequenced(Value jobset_spec) {
  if (text_of(jobset_spec.get("startupPolicy"), "startupPolicyOrder") == "InOrder") return true;
  for (const Value job : jobset_spec.get("replicatedJobs").items())
    if (!job.get("dependsOn").empty()) return true;
  return false;
}

void admit_jobset_create(const Context& context, Value jobset, FieldErrors& errors) {
  JobSetCheck check{.context = context,
                    .jobset = jobset,
                    .spec = jobset.get("spec"),
                    .name = name_for_checks(jobset.get("metadata")),
                    .errors = errors,
                    .replicated_jobs = {}};
  for (const Value job : check.spec.get("replicatedJobs").items())
    check.replicated_jobs.emplace(text_of(job, "name"), job);
  check_restart_strategy(check);
  check_first_has_no_dependency(check);
  check_subdomain(check);
  check_managed_by(check);
  check_replicated_jobs(check);
  warn_of_jobs_that_vanish(check);
  check_success_policy(check);
  check_failure_policy(check);
  check_coordinator(check);
  check_volume_claims(check);
  check_group_scheduling(check);
  check_gangs(check);
  check_rank_environment(check);
  validate_queued_create(context, jobset, errors);
}

}  // namespace muster::admission
