#include "controllers/jobset/plan.h"

#include <algorithm>
#include <set>
#include <string>

#include "json/write.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

constexpr std::string_view kPrefix = "jobset.sigs.k8s.io/";

std::string_view name_of(Value object) { return object.get({"metadata", "name"}).as_string(); }

bool has_condition(Value object, std::string_view type) {
  for (const Value condition : object.get({"status", "conditions"}).items()) {
    if (condition.get("type").as_string() == type)
      return condition.get("status").as_string() == "True";
  }
  return false;
}

std::string_view label(Value object, std::string_view key) {
  return object.get({"metadata", "labels"}).get(key).as_string();
}

// Section 3.4 of the specification, for one replicated job.
Value replicated_job_status(Arena& arena, Value replicated_job, std::span<const Value> jobs) {
  std::int64_t ready = 0, succeeded = 0, failed = 0, active = 0, suspended = 0;
  for (const Value job : jobs) {
    if (label(job, "jobset.sigs.k8s.io/replicatedjob-name") !=
        replicated_job.get("name").as_string())
      continue;
    if (has_condition(job, "Complete")) {
      ++succeeded;
    } else if (has_condition(job, "Failed")) {
      ++failed;
    } else {
      const Value spec = job.get("spec"), status = job.get("status");
      std::int64_t expected = spec.get("parallelism").as_int();
      if (const Value completions = spec.get("completions"); completions.is_int()) {
        expected = std::min(expected, completions.as_int());
      }
      if (status.get("succeeded").as_int() + status.get("ready").as_int() >= expected) ++ready;
      if (status.get("active").as_int() > 0) ++active;
      if (spec.get("suspend").as_bool()) ++suspended;
    }
  }
  Value status = Value::object(arena);
  status.set("name", replicated_job.get("name"));
  status.set("ready", Value::of(ready));
  status.set("succeeded", Value::of(succeeded));
  status.set("failed", Value::of(failed));
  status.set("active", Value::of(active));
  status.set("suspended", Value::of(suspended));
  return status;
}

class Planner {
 public:
  Planner(const Kinds& kinds, const View& view, Time now)
      : kinds_(kinds),
        view_(view),
        now_(now),
        set_(view.job_set),
        ns_(set_.get({"metadata", "namespace"}).as_string()) {}

  Plan plan() {
    if (!set_.get({"metadata", "deletionTimestamp"}).is_null()) return std::move(plan_);
    status_ = set_.get("status").is_object() ? json::clone(arena_, set_.get("status"))
                                             : Value::object(arena_);
    update_counts();
    if (!has_condition(set_, "Completed") && !has_condition(set_, "Failed")) advance();
    write_status_if_changed();
    return std::move(plan_);
  }

 private:
  void update_counts() {
    Value counts = Value::array(arena_);
    for (const Value replicated_job : set_.get({"spec", "replicatedJobs"}).items()) {
      counts.push_back(replicated_job_status(arena_, replicated_job, view_.jobs));
    }
    status_.set("replicatedJobsStatus", counts);
  }

  void advance() {
    std::size_t succeeded = 0;
    for (const Value job : view_.jobs) {
      if (has_condition(job, "Failed")) return fail_set(job);
      if (has_condition(job, "Complete")) ++succeeded;
    }
    if (succeeded > 0 && succeeded >= wanted_jobs()) return complete();
    ensure_service();
    create_jobs();
  }

  std::size_t wanted_jobs() const {
    std::int64_t sum = 0;
    for (const Value replicated_job : set_.get({"spec", "replicatedJobs"}).items()) {
      sum += replicated_job.get("replicas").as_int();
    }
    return static_cast<std::size_t>(sum);
  }

  void fail_set(Value job) {
    add_condition(
        "Failed", "FailedJobs",
        fmt::format("jobset failed due to one or more job failures (first failed job: {})",
                    name_of(job)));
    status_.set("terminalState", "Failed");
    plan_.reason = "a job failed";
  }

  void complete() {
    add_condition("Completed", "AllJobsCompleted", "jobset completed successfully");
    status_.set("terminalState", "Completed");
    plan_.reason = "all jobs completed";
  }

  void add_condition(std::string_view type, std::string_view reason, std::string_view message) {
    Value condition = Value::object(arena_);
    condition.set("lastTransitionTime", format_time(now_));
    condition.set("message", message);
    condition.set("reason", reason);
    condition.set("status", "True");
    condition.set("type", type);
    status_.array_at("conditions").push_back(condition);
  }

  std::string_view subdomain() const {
    const std::string_view named = set_.get({"spec", "network", "subdomain"}).as_string();
    return named.empty() ? name_of(set_) : named;
  }
  bool wants_hostnames() const {
    return set_.get({"spec", "network", "enableDNSHostnames"}).as_bool();
  }

  void ensure_service() {
    if (!wants_hostnames() || view_.has_service) return;
    Value service = Value::object(arena_);
    service.set("apiVersion", "v1");
    service.set("kind", "Service");
    Value metadata = service.object_at("metadata");
    metadata.set("name", subdomain());
    metadata.set("namespace", ns_);
    add_owner(metadata);
    Value spec = service.object_at("spec");
    spec.set("clusterIP", "None");
    spec.object_at("selector").set("jobset.sigs.k8s.io/jobset-name", name_of(set_));
    const Value publish = set_.get({"spec", "network", "publishNotReadyAddresses"});
    spec.set("publishNotReadyAddresses", publish.is_null() ? Value::of(true) : publish);
    create(kinds_.service, service);
  }

  void create_jobs() {
    std::set<std::string_view> have;
    for (const Value job : view_.jobs) have.insert(name_of(job));
    const bool in_order =
        set_.get({"spec", "startupPolicy", "startupPolicyOrder"}).as_string() == "InOrder";
    bool turn_has_come = true;
    std::int64_t global_index = 0;
    for (const Value replicated_job : set_.get({"spec", "replicatedJobs"}).items()) {
      const std::int64_t replicas = replicated_job.get("replicas").as_int();
      const bool may_start = turn_has_come && dependencies_hold(replicated_job);
      for (std::int64_t i = 0; i < replicas; ++i, ++global_index) {
        const std::string name =
            fmt::format("{}-{}-{}", name_of(set_), replicated_job.get("name").as_string(), i);
        if (may_start && !have.contains(name)) {
          create(kinds_.job, job(replicated_job, name, i, global_index));
        }
      }
      if (in_order) turn_has_come = turn_has_come && reached(replicated_job, "Ready");
    }
  }

  bool dependencies_hold(Value replicated_job) const {
    for (const Value dependency : replicated_job.get("dependsOn").items()) {
      for (const Value target : set_.get({"spec", "replicatedJobs"}).items()) {
        const bool named = target.get("name").as_string() == dependency.get("name").as_string();
        if (named && !reached(target, dependency.get("status").as_string())) return false;
      }
    }
    return true;
  }

  // KEP-672: Complete holds when every Job succeeded; Ready also counts those that have ended.
  bool reached(Value replicated_job, std::string_view state) const {
    for (const Value counts : status_.get("replicatedJobsStatus").items()) {
      if (counts.get("name").as_string() != replicated_job.get("name").as_string()) continue;
      const std::int64_t succeeded = counts.get("succeeded").as_int();
      const std::int64_t started =
          succeeded + counts.get("ready").as_int() + counts.get("failed").as_int();
      const std::int64_t replicas = replicated_job.get("replicas").as_int();
      return (state == "Complete" ? succeeded : started) == replicas;
    }
    return false;
  }

  Value job(Value replicated_job, const std::string& name, std::int64_t index,
            std::int64_t global_index) {
    Value job = Value::object(arena_);
    job.set("apiVersion", "batch/v1");
    job.set("kind", "Job");
    Value metadata = job.object_at("metadata");
    metadata.set("name", name);
    metadata.set("namespace", ns_);
    const Value from = replicated_job.get({"template", "metadata"});
    for (const std::string_view part : {"labels", "annotations"}) {
      if (from.get(part).is_object()) metadata.set(part, json::clone(arena_, from.get(part)));
    }
    stamp(metadata, replicated_job, index, global_index);
    add_owner(metadata);
    job.set("spec", json::clone(arena_, replicated_job.get({"template", "spec"})));
    Value spec = job.get("spec");
    spec.set("suspend", Value::of(set_.get({"spec", "suspend"}).as_bool()));
    Value pod = spec.object_at("template");
    stamp(pod.object_at("metadata"), replicated_job, index, global_index);
    if (wants_hostnames()) pod.object_at("spec").set("subdomain", subdomain());
    return job;
  }

  // The labels, and the same as annotations, that users of JobSet read (specification 4.2).
  void stamp(Value metadata, Value replicated_job, std::int64_t index, std::int64_t global_index) {
    for (const std::string_view part : {"labels", "annotations"}) {
      const Value to = metadata.object_at(part);
      const auto put = [&](std::string_view key, std::string_view value) {
        to.set(std::string(kPrefix) + std::string(key), value);
      };
      put("jobset-name", name_of(set_));
      put("jobset-uid", set_.get({"metadata", "uid"}).as_string());
      put("replicatedjob-name", replicated_job.get("name").as_string());
      put("replicatedjob-replicas", std::to_string(replicated_job.get("replicas").as_int()));
      put("global-replicas", std::to_string(wanted_jobs()));
      put("job-index", std::to_string(index));
      put("job-global-index", std::to_string(global_index));
      put("restart-attempt", std::to_string(set_.get({"status", "restarts"}).as_int()));
    }
  }

  void add_owner(Value metadata) {
    Value owner = Value::object(arena_);
    owner.set("apiVersion", set_.get("apiVersion"));
    owner.set("kind", set_.get("kind"));
    owner.set("name", name_of(set_));
    owner.set("uid", set_.get({"metadata", "uid"}));
    owner.set("controller", Value::of(true));
    owner.set("blockOwnerDeletion", Value::of(true));
    metadata.array_at("ownerReferences").push_back(owner);
  }

  void create(const api::Resource* resource, Value object) {
    plan_.then({.operation = {.verb = client::Verb::kCreate,
                              .resource = resource,
                              .ns = std::string(ns_),
                              .name = std::string(name_of(object)),
                              .body = json::write(object)}});
    if (plan_.reason.empty()) plan_.reason = "children are missing";
  }

  void write_status_if_changed() {
    if (json::equal(status_, set_.get("status"))) return;
    Value patch = Value::object(arena_);
    // Conditional: a status that was computed from an older JobSet must not win.
    patch.object_at("metadata").set("resourceVersion", set_.get({"metadata", "resourceVersion"}));
    patch.set("status", status_);
    plan_.then({.operation = {.verb = client::Verb::kPatch,
                              .resource = kinds_.job_set,
                              .ns = std::string(ns_),
                              .name = std::string(name_of(set_)),
                              .subresource = "status",
                              .body = json::write(patch)}});
    if (plan_.reason.empty()) plan_.reason = "the jobs' states changed";
  }

  const Kinds& kinds_;
  const View& view_;
  Time now_;
  Arena arena_;
  Value set_;
  std::string_view ns_;
  Value status_;
  Plan plan_;
};

}  // namespace

Plan plan(const Kinds& kinds, const View& view, Time now) {
  return Planner(kinds, view, now).plan();
}

}  // namespace muster::controllers::jobset
