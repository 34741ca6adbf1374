// Kinds that make pods or Jobs out of a template: PodTemplate, Deployment, CronJob.
#include <fmt/format.h>

#include "admission/job/job_validation.h"
#include "admission/kinds.h"
#include "admission/pod/pod_defaults.h"
#include "admission/pod/pod_validation.h"
#include "admission/rules/checks.h"
#include "admission/rules/selector_validation.h"

namespace muster::admission {
namespace {

void default_template(const Context&, Value object) { default_pod_template(object); }

void validate_template(const Context&, Value object, FieldErrors& errors) {
  validate_pod_template(object.get("template"), Path("template"), errors);
}

void default_deployment(const Context&, Value deployment) {
  const Value spec = deployment.object_at("spec");
  set_default(spec, "replicas", Value::of(1));
  default_pod_template(spec);
  const Value strategy = spec.object_at("strategy");
  set_default(strategy, "type", "RollingUpdate");
  if (text_of(strategy, "type") == "RollingUpdate") {
    const Value rolling = strategy.object_at("rollingUpdate");
    set_default(rolling, "maxUnavailable", "25%");
    set_default(rolling, "maxSurge", "25%");
  }
  set_default(spec, "revisionHistoryLimit", Value::of(10));
  set_default(spec, "progressDeadlineSeconds", Value::of(600));
}

void prepare_deployment_status(const Context&, Value deployment, Value old) {
  take_member(deployment.get("metadata"), old.get("metadata"), "labels");
}

bool annotations_differ(Value object, Value old) {
  return !json::equal(object.get({"metadata", "annotations"}),
                      old.get({"metadata", "annotations"}));
}

void validate_deployment(const Context&, Value deployment, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = deployment.get("spec");
  validate_not_negative(spec, "replicas", path, errors);
  const Value selector = spec.get("selector");
  const Value labels = spec.get({"template", "metadata", "labels"});
  if (!selector.is_object()) {
    errors.required(path.child("selector"));
    errors.invalid(path.child("template").child("metadata").child("labels"), labels,
                   "`selector` does not match template `labels`");
  } else {
    validate_label_selector(selector, path.child("selector"), errors);
    if (selector.get("matchLabels").empty() && selector.get("matchExpressions").empty())
      errors.invalid(path.child("selector"), selector, "empty selector is invalid for deployment");
    if (!selects(selector, labels))
      errors.invalid(path.child("template").child("metadata").child("labels"), labels,
                     "`selector` does not match template `labels`");
  }
  validate_pod_template(spec.get("template"), path.child("template"), errors);
  const Value pod = spec.get({"template", "spec"});
  if (text_of(pod, "restartPolicy") != "Always")
    validate_choice(pod, "restartPolicy", {"Always"}, path.child("template").child("spec"), errors);
  const std::string_view strategy = text_of(spec.get("strategy"), "type");
  if (strategy == "Recreate" && has_value(spec.get("strategy"), "rollingUpdate"))
    errors.forbidden(path.child("strategy").child("rollingUpdate"),
                     "may not be specified when strategy `type` is 'Recreate'");
  if (strategy != "Recreate" && strategy != "RollingUpdate")
    errors.add(
        "FieldValueNotSupported", path.child("strategy"),
        fmt::format("Unsupported value: {}: supported values: \"Recreate\", \"RollingUpdate\"",
                    api::quote(spec.get("strategy"))));
  for (const std::string_view key :
       {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"})
    validate_not_negative(spec, key, path, errors);
}

void validate_deployment_update(const Context&, Value deployment, Value old, FieldErrors& errors) {
  require_unchanged(deployment.get("spec"), old.get("spec"), "selector", Path("spec"), errors);
}

void default_cron_job(const Context&, Value cron_job) {
  const Value spec = cron_job.object_at("spec");
  set_default(spec, "concurrencyPolicy", "Allow");
  set_default(spec, "suspend", Value::of(false));
  set_default(spec, "successfulJobsHistoryLimit", Value::of(3));
  set_default(spec, "failedJobsHistoryLimit", Value::of(1));
  const Value job = spec.object_at("jobTemplate");
  job.object_at("metadata");
  default_pod_template(job.object_at("spec"));
}

std::vector<std::string_view> fields_of(std::string_view schedule) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto start = schedule.find_first_not_of(" \t");
    if (start == std::string_view::npos) return fields;
    const auto end = schedule.find_first_of(" \t", start);
    fields.push_back(schedule.substr(start, end - start));
    if (end == std::string_view::npos) return fields;
    schedule.remove_prefix(end);
  }
}

void validate_schedule(Value spec, const Path& path, FieldErrors& errors) {
  if (!require_text(spec, "schedule", path, errors)) return;
  const std::string_view schedule = text_of(spec, "schedule");
  if (schedule.starts_with('@')) return;  // @hourly and its like
  const auto fields = fields_of(schedule);
  if (fields.size() != 5)
    errors.invalid(path.child("schedule"), schedule,
                   fmt::format("expected exactly 5 fields, found {}: [{}]", fields.size(),
                               fmt::join(fields, " ")));
}

void validate_cron_job(const Context&, Value cron_job, FieldErrors& errors) {
  constexpr std::size_t kLongestName = 52;  // room for the suffix of its Jobs
  const std::string_view name = text_of(cron_job.get("metadata"), "name");
  if (name.size() > kLongestName)
    errors.invalid(Path("metadata").child("name"), name,
                   fmt::format("must be no more than {} characters", kLongestName));
  const Path path("spec");
  const Value spec = cron_job.get("spec");
  validate_schedule(spec, path, errors);
  validate_not_negative(spec, "startingDeadlineSeconds", path, errors);
  require_choice(spec, "concurrencyPolicy", {"Allow", "Forbid", "Replace"}, path, errors);
  validate_job_template_spec(spec.get({"jobTemplate", "spec"}),
                             path.child("jobTemplate").child("spec"), errors);
  for (const std::string_view key : {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    validate_not_negative(spec, key, path, errors);
}

}  // namespace

constinit const Kind kPodTemplate = {
    .group = "",
    .name = "PodTemplate",
    .apply_defaults = default_template,
    .validate = validate_template,
};

constinit const Kind kDeployment = {
    .group = "apps",
    .name = "Deployment",
    .apply_defaults = default_deployment,
    .prepare_subresource = prepare_deployment_status,
    .also_raises_generation = annotations_differ,
    .validate = validate_deployment,
    .validate_update = validate_deployment_update,
};

constinit const Kind kCronJob = {
    .group = "batch",
    .name = "CronJob",
    .apply_defaults = default_cron_job,
    .validate = validate_cron_job,
};

}  // namespace muster::admission
