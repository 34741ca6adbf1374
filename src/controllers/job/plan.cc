#include "controllers/job/plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "json/write.h"

namespace muster::controllers::job {
namespace {

using json::Arena;
using json::Value;

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::string_view name_of(Value object) { return object.get({"metadata", "name"}).as_string(); }
std::string_view phase_of(Value pod) { return pod.get({"status", "phase"}).as_string(); }

bool condition_is_true(Value object, std::string_view type) {
  for (const Value condition : object.get({"status", "conditions"}).items()) {
    if (condition.get("type").as_string() == type)
      return condition.get("status").as_string() == "True";
  }
  return false;
}

std::int64_t index_of(Value pod) {
  const std::string_view text = pod.get({"metadata", "annotations"}).get(kIndex).as_string();
  return text.empty() ? -1 : std::strtoll(std::string(text).c_str(), nullptr, 10);
}

// Ordered intervals: one index `3`, two adjacent `3,4`, three or more `3-5`.
std::string intervals(const std::set<std::int64_t>& indexes) {
  std::string out;
  for (auto at = indexes.begin(); at != indexes.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    while (++at != indexes.end() && *at == last + 1) last = *at;
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last != first) out += (last == first + 1 ? ',' : '-') + std::to_string(last);
  }
  return out;
}

class Planner {
 public:
  Planner(const Kinds& kinds, const View& view, Time now)
      : kinds_(kinds), view_(view), now_(now), job_(view.job), spec_(job_.get("spec")) {}

  Plan plan() {
    const bool finished = condition_is_true(job_, "Complete") || condition_is_true(job_, "Failed");
    if (finished || !job_.get({"metadata", "deletionTimestamp"}).is_null()) return std::move(plan_);
    count();
    status_ = job_.get("status").is_object() ? json::clone(arena_, job_.get("status"))
                                             : Value::object(arena_);
    if (failed_ > backoff_limit()) {
      finish("FailureTarget", "Failed", "BackoffLimitExceeded",
             "Job has reached the specified backoff limit");
    } else if (succeeded() >= wanted()) {
      finish("SuccessCriteriaMet", "Complete", "CompletionsReached",
             "Reached expected number of succeeded pods");
    } else if (!spec_.get("suspend").as_bool()) {
      create_pods();
    }
    write_status_if_changed();
    return std::move(plan_);
  }

 private:
  bool indexed() const { return spec_.get("completionMode").as_string() == "Indexed"; }
  std::int64_t parallelism() const { return spec_.get("parallelism").as_int(); }
  std::int64_t backoff_limit() const { return spec_.get("backoffLimit").as_int(); }
  // Without completions any one success is enough.
  std::int64_t wanted() const {
    const Value completions = spec_.get("completions");
    return completions.is_int() ? completions.as_int() : 1;
  }
  std::int64_t succeeded() const {
    return indexed() ? static_cast<std::int64_t>(completed_indexes_.size()) : succeeded_;
  }

  void count() {
    for (const Value pod : view_.pods) {
      const std::int64_t index = index_of(pod);
      if (phase_of(pod) == "Succeeded") {
        ++succeeded_;
        if (index >= 0) completed_indexes_.insert(index);
      } else if (phase_of(pod) == "Failed") {
        ++failed_;
      } else {
        active_.push_back(pod);
        if (index >= 0) active_indexes_.insert(index);
        if (condition_is_true(pod, "Ready")) ++ready_;
      }
    }
  }

  void create_pods() {
    std::int64_t missing =
        std::min(parallelism(), wanted_active()) - static_cast<std::int64_t>(active_.size());
    std::int64_t index = 0;
    for (; missing > 0; --missing, ++index) {
      while (completed_indexes_.contains(index) || active_indexes_.contains(index)) ++index;
      create_pod(index);
    }
  }
  std::int64_t wanted_active() const {
    return spec_.get("completions").is_int() ? wanted() - succeeded() : parallelism();
  }

  void create_pod(std::int64_t index) {
    Value pod = json::clone(arena_, spec_.get("template"));
    Value metadata = pod.object_at("metadata");
    const std::string base =
        indexed() ? fmt::format("{}-{}", name_of(job_), index) : std::string(name_of(job_));
    pod.set("apiVersion", "v1");
    pod.set("kind", "Pod");
    metadata.set("generateName", base + "-");
    metadata.set("namespace", job_.get({"metadata", "namespace"}));
    add_owner(metadata);
    if (indexed()) add_index(pod, index, base);
    plan_.then({.operation = {.verb = client::Verb::kCreate,
                              .resource = kinds_.pod,
                              .ns = std::string(job_.get({"metadata", "namespace"}).as_string()),
                              .name = base,
                              .body = json::write(pod)}});
    plan_.reason = "pods are missing";
    ++created_;
  }

  // The index is in the label, the annotation, the host name and the environment.
  void add_index(Value pod, std::int64_t index, const std::string& host) {
    const std::string text = std::to_string(index);
    pod.get("metadata").object_at("labels").set(kIndex, text);
    pod.get("metadata").object_at("annotations").set(kIndex, text);
    Value spec = pod.object_at("spec");
    spec.set("hostname", host);
    for (const std::string_view part : {"initContainers", "containers"}) {
      for (const Value container : spec.get(part).items()) {
        Value variable = Value::object(arena_);
        variable.set("name", "JOB_COMPLETION_INDEX");
        variable.object_at("valueFrom")
            .object_at("fieldRef")
            .set("fieldPath", fmt::format("metadata.labels['{}']", kIndex));
        container.array_at("env").push_back(variable);
      }
    }
  }

  void add_owner(Value metadata) {
    Value owner = Value::object(arena_);
    owner.set("apiVersion", "batch/v1");
    owner.set("kind", "Job");
    owner.set("name", name_of(job_));
    owner.set("uid", job_.get({"metadata", "uid"}));
    owner.set("controller", Value::of(true));
    owner.set("blockOwnerDeletion", Value::of(true));
    metadata.array_at("ownerReferences").push_back(owner);
  }

  // Kubernetes says first that a Job will finish, then, once no pod is left, that it has.
  void finish(std::string_view interim, std::string_view final, std::string_view reason,
              std::string_view message) {
    if (!condition_is_true(job_, interim)) add_condition(interim, reason, message);
    if (!active_.empty()) return stop_active();
    add_condition(final, reason, message);
    if (final == "Complete") status_.set("completionTime", format_time(now_));
    plan_.reason = std::string(message);
  }

  void stop_active() {
    for (const Value pod : active_) {
      if (!pod.get({"metadata", "deletionTimestamp"}).is_null()) continue;
      plan_.then({.operation = {.verb = client::Verb::kDelete,
                                .resource = kinds_.pod,
                                .ns = std::string(pod.get({"metadata", "namespace"}).as_string()),
                                .name = std::string(name_of(pod))}});
    }
    plan_.reason = "the Job ends; its last pods are stopped";
  }

  void add_condition(std::string_view type, std::string_view reason, std::string_view message) {
    Value condition = Value::object(arena_);
    condition.set("type", type);
    condition.set("status", "True");
    condition.set("lastProbeTime", format_time(now_));
    condition.set("lastTransitionTime", format_time(now_));
    condition.set("reason", reason);
    condition.set("message", message);
    status_.array_at("conditions").push_back(condition);
  }

  void write_status_if_changed() {
    const auto set_count = [this](std::string_view key, std::int64_t count) {
      count == 0 ? void(status_.erase(key)) : status_.set(key, Value::of(count));
    };
    set_count("active", static_cast<std::int64_t>(active_.size()) + created_);
    set_count("succeeded", succeeded());
    set_count("failed", failed_);
    status_.set("ready", Value::of(ready_));
    status_.set("terminating", Value::of(0));
    status_.object_at("uncountedTerminatedPods");
    if (indexed() && !completed_indexes_.empty())
      status_.set("completedIndexes", intervals(completed_indexes_));
    if (!status_.has("startTime") && !spec_.get("suspend").as_bool())
      status_.set("startTime", format_time(now_));
    if (json::equal(status_, job_.get("status"))) return;
    Value patch = Value::object(arena_);
    patch.object_at("metadata").set("resourceVersion", job_.get({"metadata", "resourceVersion"}));
    patch.set("status", with_nulls_for_absent(status_, job_.get("status")));
    plan_.then({.operation = {.verb = client::Verb::kPatch,
                              .resource = kinds_.job,
                              .ns = std::string(job_.get({"metadata", "namespace"}).as_string()),
                              .name = std::string(name_of(job_)),
                              .subresource = "status",
                              .body = json::write(patch)}});
    if (plan_.reason.empty()) plan_.reason = "the pods' states changed";
  }

  // A merge patch removes only what it names.
  Value with_nulls_for_absent(Value status, Value before) {
    Value patch = json::clone(arena_, status);
    for (const auto& member : before.members()) {
      if (!status.has(member.key)) patch.set(member.key, Value());
    }
    return patch;
  }

  const Kinds& kinds_;
  const View& view_;
  Time now_;
  Arena arena_;
  Value job_;
  Value spec_;
  Value status_;
  std::vector<Value> active_;
  std::set<std::int64_t> active_indexes_;
  std::set<std::int64_t> completed_indexes_;
  std::int64_t succeeded_ = 0, failed_ = 0, ready_ = 0, created_ = 0;
  Plan plan_;
};

}  // namespace

Plan plan(const Kinds& kinds, const View& view, Time now) {
  return Planner(kinds, view, now).plan();
}

}  // namespace muster::controllers::job
