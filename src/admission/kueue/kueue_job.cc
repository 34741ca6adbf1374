#include "admission/kueue/kueue_job.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "admission/feature_gates.h"
#include "admission/rules/checks.h"
#include "admission/rules/lookup.h"

namespace muster::admission {
namespace {

constexpr std::string_view kGroup = "kueue.x-k8s.io";
constexpr std::string_view kPriorityLabel = "kueue.x-k8s.io/priority-class";
constexpr std::string_view kPrebuiltLabel = "kueue.x-k8s.io/prebuilt-workload-name";
constexpr std::string_view kMaxExecTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr std::string_view kDefault = "default";
constexpr int kDeepestNesting = 10;

Path labels_path() { return Path("metadata").child("labels"); }

std::string_view label_of(Value object, std::string_view key) {
  return object.get({"metadata", "labels", key}).as_string();
}

bool suspended(Value job) { return job.get({"spec", "suspend"}).as_bool(); }

Value controller_of(Value object) {
  for (const Value owner : object.get({"metadata", "ownerReferences"}).items())
    if (owner.get("controller").as_bool()) return owner;
  return {};
}

// The kinds that may stand above a job, as they are stored.
std::optional<ObjectRef> job_ref(const Context& context, Value owner) {
  const std::string_view kind = text_of(owner, "kind");
  const std::string_view api_version = text_of(owner, "apiVersion");
  if (kind == "JobSet" && api_version.starts_with("jobset.x-k8s.io/"))
    return ObjectRef{"jobset.x-k8s.io", "jobsets", context.ns, text_of(owner, "name")};
  if (kind == "Job" && api_version.starts_with("batch/"))
    return ObjectRef{"batch", "jobs", context.ns, text_of(owner, "name")};
  return {};
}

// A job below a queued one is part of it and has no turn of its own.
bool has_queued_ancestor(const Context& context, Value job) {
  Value at = job;
  for (int depth = 0; depth < kDeepestNesting; ++depth) {
    const Value owner = controller_of(at);
    const auto ref = owner.is_object() ? job_ref(context, owner) : std::nullopt;
    if (!ref) return false;
    at = find_object(context, job.arena(), *ref);
    if (at.is_null()) return false;
    if (!label_of(at, kQueueLabel).empty()) return true;
  }
  return false;
}

bool exists(const Context& context, const ObjectRef& ref) {
  return !context.view->find(ref.group, ref.plural, ref.ns, ref.name).empty();
}

bool has_default_queue(const Context& context) {
  return context.gates->enabled("LocalQueueDefaulting") &&
         exists(context, {kGroup, "localqueues", context.ns, kDefault});
}

void validate_name_label(Value job, std::string_view key, FieldErrors& errors) {
  const Value label = job.get({"metadata", "labels", key});
  if (label.is_null()) return;
  const api::Faults faults = api::check_dns1123_subdomain(label.as_string());
  if (!faults.empty())
    errors.invalid(labels_path().key(key), label, fmt::format("{}", fmt::join(faults, ",")));
}

void validate_max_exec_time(Value job, FieldErrors& errors) {
  const Value label = job.get({"metadata", "labels", kMaxExecTimeLabel});
  if (label.is_null()) return;
  const std::string_view text = label.as_string();
  int seconds = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (fault != std::errc() || end != text.data() + text.size())
    errors.invalid(labels_path().key(kMaxExecTimeLabel), label,
                   fmt::format("strconv.Atoi: parsing {}: invalid syntax", api::quote(text)));
  else if (seconds <= 0)
    errors.invalid(labels_path().key(kMaxExecTimeLabel), Value::of(seconds),
                   "should be greater than 0");
}

void require_same_label(Value job, Value old, std::string_view key, FieldErrors& errors) {
  if (label_of(job, key) != label_of(old, key))
    errors.invalid(labels_path().key(key), label_of(job, key), kImmutable);
}

}  // namespace

Status queue_on_create(const Context& context, Value job, Value) {
  if (!context.queueing) return {};
  if (context.operation != Operation::kCreate || context.ns == "kube-system") return {};
  if (!job.get("spec").is_object() || has_queued_ancestor(context, job)) return {};
  const Value metadata = job.object_at("metadata");
  if (!metadata.get({"labels", kQueueLabel}).is_string() && has_default_queue(context))
    metadata.object_at("labels").set(kQueueLabel, Value::view(kDefault));
  if (label_of(job, kQueueLabel).empty()) return {};
  if (exists(context, {kGroup, "workloadpriorityclasses", "", kDefault}))
    set_default(metadata.get("labels"), kPriorityLabel, Value::view(kDefault));
  job.get("spec").set("suspend", Value::of(true));
  return {};
}

void validate_queued_create(const Context& context, Value job, FieldErrors& errors) {
  if (!context.queueing) return;
  validate_name_label(job, kQueueLabel, errors);
  validate_name_label(job, kPrebuiltLabel, errors);
  validate_max_exec_time(job, errors);
}

void validate_queued_update(const Context& context, Value job, Value old, FieldErrors& errors) {
  if (!context.queueing) return;
  validate_name_label(job, kQueueLabel, errors);
  if (!suspended(job)) require_same_label(job, old, kQueueLabel, errors);
  if (label_of(job, kQueueLabel).empty() && !label_of(old, kQueueLabel).empty() && suspended(job) &&
      has_default_queue(context))
    errors.invalid(labels_path().key(kQueueLabel), "",
                   "queue-name must not be empty in namespace with default queue");
  require_same_label(job, old, kPrebuiltLabel, errors);
  const bool adds_class = label_of(old, kPriorityLabel).empty();
  const bool drops_class = label_of(job, kPriorityLabel).empty();
  if (adds_class != drops_class && (drops_class || !suspended(job)))
    require_same_label(job, old, kPriorityLabel, errors);
  if (!suspended(job) || !suspended(old)) require_same_label(job, old, kMaxExecTimeLabel, errors);
  validate_max_exec_time(job, errors);
}

}  // namespace muster::admission
