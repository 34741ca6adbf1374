#include "admission/job/job_defaults.h"

#include <limits>

#include "admission/pod/pod_defaults.h"
#include "admission/rules/edit.h"
#include "api/values/names.h"
#include "api/views/job_names.h"

namespace muster::admission {
namespace {

constexpr int kBackoffLimit = 6;

void default_counts(Value spec) {
  const bool has_completions = has_value(spec, "completions");
  if (has_value(spec, "parallelism")) return;  // completions stay unset: a work queue
  spec.set("parallelism", Value::of(1));
  if (!has_completions) spec.set("completions", Value::of(1));
}

void default_failure_policy(Value policy) {
  for (const Value rule : policy.get("rules").items())
    for (const Value pattern : rule.get("onPodConditions").items())
      set_default(pattern, "status", "True");
}

// A Job without labels of its own shows those of its pods: the same object, so that whoever comes
// later can tell them from labels that only look the same.
void show_template_labels(Value job) {
  const Value metadata = job.object_at("metadata");
  const Value labels = job.get({"spec", "template", "metadata", "labels"});
  if (metadata.get("labels").empty() && !labels.empty()) metadata.set("labels", labels);
}

bool is_same_object(Value a, Value b) { return a.members().data() == b.members().data(); }

}  // namespace

void default_job(const Context&, Value job) {
  const Value spec = job.object_at("spec");
  default_counts(spec);
  const bool per_index = has_value(spec, "backoffLimitPerIndex");
  set_default(spec, "backoffLimit",
              Value::of(per_index ? std::numeric_limits<std::int32_t>::max() : kBackoffLimit));
  set_default(spec, "completionMode", "NonIndexed");
  set_default(spec, "suspend", Value::of(false));
  set_default(spec, "manualSelector", Value::of(false));
  set_default(spec, "podReplacementPolicy",
              has_value(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  default_failure_policy(spec.get("podFailurePolicy"));
  default_pod_template(spec);
  show_template_labels(job);
}

void prepare_job_create(const Context&, Value job) {
  const Value spec = job.get("spec");
  const Value labels = spec.get("template").object_at("metadata").object_at("labels");
  const Value metadata = job.object_at("metadata");
  const bool has_own_labels =
      !metadata.get("labels").empty() && !is_same_object(metadata.get("labels"), labels);
  if (!has_own_labels) metadata.set("labels", json::clone(job.arena(), labels));
  const Value own = metadata.get("labels");
  if (!spec.get("manualSelector").as_bool()) {
    const Value name = job.get({"metadata", "name"});
    const Value uid = job.get({"metadata", "uid"});
    for (const std::string_view key : {api::label::kOldJobName, api::label::kJobName})
      set_default(labels, key, name);
    for (const std::string_view key : {api::label::kOldControllerUid, api::label::kControllerUid})
      set_default(labels, key, uid);
    set_default(spec.object_at("selector").object_at("matchLabels"), api::label::kControllerUid,
                uid);
  }
  // Of a name that is too long for a label, the template's labels are complaint enough.
  if (!has_own_labels && api::check_label_value(text_of(job.get("metadata"), "name")).empty())
    for (const json::Member& label : labels.members()) own.set(label.key, label.value);
  if (labels.empty()) spec.get({"template", "metadata"}).erase("labels");
  if (own.empty()) metadata.erase("labels");
}

}  // namespace muster::admission
