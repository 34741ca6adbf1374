#include "admission/job/job_validation.h"

#include <fmt/format.h>

#include "admission/job/job_defaults.h"
#include "admission/pod/pod_validation.h"
#include "admission/rules/checks.h"
#include "admission/rules/selector_validation.h"
#include "api/views/job_names.h"

namespace muster::admission {
namespace {

constexpr int kMostParallel = 100'000;
constexpr int kMostFailedIndexes = 100'000;
// From this many completions on, counting failures per index costs more and is bounded tighter.
constexpr int kManyCompletions = 100'000;
constexpr int kMostForManyCompletions = 10'000;
constexpr int kLongestManagedBy = 63;

void require_label(Value labels, std::string_view key, std::string_view value,
                   FieldErrors& errors) {
  const Path path = Path("spec").child("template").child("metadata").child("labels").key(key);
  const std::string detail = fmt::format("must be '{}'", value);
  if (!labels.has(key))
    errors.required(path, detail);
  else if (text_of(labels, key) != value)
    errors.invalid(path, labels, detail);
}

// The labels that tie pods to this Job, and a selector that asks for nothing else.
void validate_generated_selector(Value job, FieldErrors& errors) {
  const Value spec = job.get("spec");
  if (spec.get("manualSelector").as_bool() || !spec.get("selector").is_object()) return;
  const std::string_view uid = text_of(job.get("metadata"), "uid");
  const std::string_view name = text_of(job.get("metadata"), "name");
  const Value labels = spec.get({"template", "metadata", "labels"});
  require_label(labels, api::label::kOldControllerUid, uid, errors);
  require_label(labels, api::label::kOldJobName, name, errors);
  require_label(labels, api::label::kControllerUid, uid, errors);
  require_label(labels, api::label::kJobName, name, errors);

  const Value expected = Value::object(spec.arena());
  for (const std::string_view key : {api::label::kOldControllerUid, api::label::kControllerUid})
    expected.set(key, Value::view(uid));
  for (const std::string_view key : {api::label::kOldJobName, api::label::kJobName})
    expected.set(key, Value::view(name));
  if (!selects(spec.get("selector"), expected))
    errors.invalid(Path("spec").child("selector"), spec.get("selector"),
                   "`selector` not auto-generated");
}

void validate_counts(Value spec, const Path& path, FieldErrors& errors) {
  for (const std::string_view key :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
    validate_not_negative(spec, key, path, errors);
  if (has_value(spec, "maxFailedIndexes") && !has_value(spec, "backoffLimitPerIndex"))
    errors.required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
}

void validate_managed_by(Value spec, const Path& path, FieldErrors& errors) {
  if (!has_value(spec, "managedBy")) return;
  const std::string_view manager = text_of(spec, "managedBy");
  validate_domain_prefixed_path(manager, path.child("managedBy"), errors);
  if (manager.size() > kLongestManagedBy)
    errors.too_long(path.child("managedBy"), kLongestManagedBy);
}

void validate_many_completions(Value spec, const Path& path, FieldErrors& errors) {
  const Value most_failed = spec.get("maxFailedIndexes");
  const auto too_many = [&](std::string_view key) {
    if (int_of(spec, key) > kMostForManyCompletions)
      errors.invalid(path.child(key), spec.get(key),
                     fmt::format("must be less than or equal to {} when completions are above {} "
                                 "and used with backoff limit per index",
                                 kMostForManyCompletions, kManyCompletions));
  };
  if (most_failed.is_null())
    errors.required(
        path.child("maxFailedIndexes"),
        fmt::format("must be specified when completions is above {}", kManyCompletions));
  too_many("parallelism");
  too_many("maxFailedIndexes");
}

void validate_indexed(Value spec, const Path& path, FieldErrors& errors) {
  const Value completions = spec.get("completions");
  const Value most_failed = spec.get("maxFailedIndexes");
  if (completions.is_null())
    errors.required(path.child("completions"), "when completion mode is Indexed");
  if (int_of(spec, "parallelism") > kMostParallel)
    errors.invalid(path.child("parallelism"), spec.get("parallelism"),
                   fmt::format("must be less than or equal to {} when completion mode is Indexed",
                               kMostParallel));
  if (!completions.is_null() && most_failed.as_int() > completions.as_int())
    errors.invalid(path.child("maxFailedIndexes"), most_failed,
                   "must be less than or equal to completions");
  if (most_failed.as_int() > kMostFailedIndexes)
    errors.invalid(path.child("maxFailedIndexes"), most_failed,
                   fmt::format("must be less than or equal to {}", kMostFailedIndexes));
  if (completions.as_int() > kManyCompletions && has_value(spec, "backoffLimitPerIndex"))
    validate_many_completions(spec, path, errors);
}

void validate_mode(Value spec, const Path& path, FieldErrors& errors) {
  validate_choice(spec, "completionMode", {"NonIndexed", "Indexed"}, path, errors);
  if (is_indexed(spec)) return validate_indexed(spec, path, errors);
  for (const std::string_view key : {"backoffLimitPerIndex", "maxFailedIndexes"})
    if (has_value(spec, key))
      errors.invalid(path.child(key), spec.get(key), "requires indexed completion mode");
}

void validate_policies(Value spec, const Path& path, FieldErrors& errors) {
  const bool has_failure_policy = has_value(spec, "podFailurePolicy");
  if (has_failure_policy) validate_pod_failure_policy(spec, path.child("podFailurePolicy"), errors);
  if (has_value(spec, "successPolicy")) {
    if (is_indexed(spec))
      validate_success_policy(spec, path.child("successPolicy"), errors);
    else
      errors.invalid(path.child("successPolicy"), spec.get("successPolicy"),
                     "requires indexed completion mode");
  }
  if (has_failure_policy)
    validate_choice(spec, "podReplacementPolicy", {"Failed"}, path, errors);
  else
    validate_choice(spec, "podReplacementPolicy", {"Failed", "TerminatingOrFailed"}, path, errors);
}

void validate_restart_policy(Value spec, const Path& path, FieldErrors& errors) {
  const Value pod = spec.get({"template", "spec"});
  const Path at = path.child("template").child("spec");
  const std::string_view policy = text_of(pod, "restartPolicy");
  if (policy.empty() || policy == "Always")
    errors.required(at.child("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
  else
    validate_choice(pod, "restartPolicy", {"OnFailure", "Never"}, at, errors);
  if (has_value(spec, "podFailurePolicy") && policy == "OnFailure")
    errors.invalid(at.child("restartPolicy"), policy,
                   "only \"Never\" is supported when podFailurePolicy is specified");
}

}  // namespace

void validate_job_selector(Value spec, const Path& path, FieldErrors& errors) {
  const Value selector = spec.get("selector");
  if (selector.is_object())
    validate_label_selector(selector, path.child("selector"), errors);
  else
    errors.required(path.child("selector"));
  const Value labels = spec.get({"template", "metadata", "labels"});
  if (!selects(selector, labels))
    errors.invalid(path.child("template").child("metadata").child("labels"), labels,
                   "`selector` does not match template `labels`");
}

namespace {

// The pod of the last index has the longest name.
void validate_pod_names(Value job, FieldErrors& errors) {
  const std::int64_t completions = int_of(job.get("spec"), "completions");
  if (!is_indexed(job.get("spec")) || completions <= 0) return;
  const std::string_view name = text_of(job.get("metadata"), "name");
  const std::string pod = fmt::format("{}-{}", name, completions - 1);
  if (!api::check_dns1123_label(pod).empty())
    errors.invalid(Path("metadata").child("name"), name,
                   "will not able to create pod with invalid DNS label: " + pod);
}

void warn_of_name(const Context& context, Value job) {
  const std::string_view name = text_of(job.get("metadata"), "name");
  const api::Faults faults = api::check_dns1123_label(name);
  if (!context.warnings || context.operation != Operation::kCreate || faults.empty()) return;
  context.warnings->push_back(
      fmt::format("metadata.name: this is used in Pod names and hostnames, which can result in "
                  "surprising behavior; a DNS label is recommended: [{}]",
                  fmt::join(faults, " ")));
}

void warn_of_many_indexes(const Context& context, Value spec) {
  if (!context.warnings || !is_indexed(spec) || context.operation != Operation::kCreate) return;
  if (int_of(spec, "completions") > kManyCompletions &&
      int_of(spec, "parallelism") > kMostForManyCompletions)
    context.warnings->push_back(
        "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism "
        "higher than 10^4, Kubernetes might not be able to track completedIndexes when a big "
        "number "
        "of indexes fail");
}

}  // namespace

bool is_indexed(Value job_spec) { return text_of(job_spec, "completionMode") == "Indexed"; }

void validate_job_template_spec(Value spec, const Path& path, FieldErrors& errors) {
  validate_counts(spec, path, errors);
  validate_managed_by(spec, path, errors);
  validate_mode(spec, path, errors);
  validate_policies(spec, path, errors);
  validate_pod_template(spec.get("template"), path.child("template"), errors);
  validate_restart_policy(spec, path, errors);
}

void validate_job(const Context& context, Value job, FieldErrors& errors) {
  const Path path("spec");
  validate_generated_selector(job, errors);
  validate_job_template_spec(job.get("spec"), path, errors);
  validate_job_selector(job.get("spec"), path, errors);
  validate_pod_names(job, errors);
  if (!errors.empty()) return;
  warn_of_name(context, job);
  warn_of_many_indexes(context, job.get("spec"));
}

}  // namespace muster::admission
