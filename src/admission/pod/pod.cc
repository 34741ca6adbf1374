// The Pod: defaults, the admission plugins that act on pods, what each subresource may write.
#include <array>

#include "admission/jobset/jobset_pod.h"
#include "admission/kinds.h"
#include "admission/pod/pod_defaults.h"
#include "admission/pod/pod_validation.h"
#include "admission/pod/priority.h"
#include "admission/pod/qos.h"
#include "admission/pod/service_account.h"
#include "admission/rules/edit.h"
#include "admission/rules/list_index.h"
#include "base/time.h"

namespace muster::admission {
namespace {

constexpr int kTolerationSeconds = 300;

void default_pod(const Context&, Value pod) {
  const Value spec = pod.object_at("spec");
  default_pod_only(spec);
  default_pod_spec(spec);
}

bool tolerates(Value tolerations, std::string_view taint) {
  for (const Value toleration : tolerations.items()) {
    const std::string_view key = text_of(toleration, "key");
    const std::string_view effect = text_of(toleration, "effect");
    if ((key.empty() || key == taint) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

// DefaultTolerationSeconds: a pod outlives five minutes of its node's absence.
void tolerate_lost_node(Value spec) {
  for (const char* const taint :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates(spec.get("tolerations"), taint)) continue;
    const Value toleration = Value::object(spec.arena());
    toleration.set("key", Value::view(taint));
    toleration.set("operator", Value::view("Exists"));
    toleration.set("effect", Value::view("NoExecute"));
    toleration.set("tolerationSeconds", Value::of(kTolerationSeconds));
    spec.array_at("tolerations").push_back(toleration);
  }
}

Status mutate_pod(const Context& context, Value pod, Value old) {
  if (!context.subresource.empty()) return {};
  if (context.operation == Operation::kCreate) MUSTER_CHECK(admit_service_account(context, pod));
  MUSTER_CHECK(admit_pod_priority(context, pod, old));
  tolerate_lost_node(pod.get("spec"));
  if (context.operation != Operation::kCreate) return {};
  MUSTER_CHECK(mutate_jobset_pod(context, pod));
  return check_jobset_pod(context, pod);
}

void add_gated_condition(const Context& context, Value status) {
  const Value condition = Value::object(status.arena());
  condition.set("type", Value::view("PodScheduled"));
  condition.set("status", Value::view("False"));
  condition.set("lastProbeTime", Value());
  condition.set("lastTransitionTime", format_time(context.now));
  condition.set("reason", Value::view("SchedulingGated"));
  condition.set("message", Value::view("Scheduling is blocked due to non-empty scheduling gates"));
  status.array_at("conditions").push_back(condition);
}

void prepare_pod_create(const Context& context, Value pod) {
  const Value spec = pod.get("spec");
  const Value status = pod.object_at("status");
  status.set("phase", Value::view("Pending"));
  status.set("qosClass", qos_class(spec));
  if (!spec.get("schedulingGates").empty()) add_gated_condition(context, status);
}

// Kubelets of old sent broken owner references; the generation that was observed is not forgotten.
void prepare_status_write(Value pod, Value old) {
  take_member(pod.get("metadata"), old.get("metadata"), "ownerReferences");
  const Value status = pod.object_at("status");
  for (const std::string_view key : {"observedGeneration", "qosClass"})
    if (!has_value(status, key)) take_member(status, old.get("status"), key);
}

// All of the old pod, but for what the tracker says about who wrote.
void restore_pod(Value pod, Value old) {
  const Value metadata = json::clone(pod.arena(), old.get("metadata"));
  for (const std::string_view key : {"managedFields", "resourceVersion"})
    take_member(metadata, pod.get("metadata"), key);
  pod.set("metadata", metadata);
  take_member(pod, old, "spec");
  take_member(pod, old, "status");
}

void prepare_resize(Value pod, Value old) {
  const Value wished = json::clone(pod.arena(), pod.get("spec"));
  restore_pod(pod, old);
  for (const std::string_view list : {"containers", "initContainers"}) {
    const ItemsBy by_name(wished.get(list), "name");
    for (const Value container : pod.get({"spec", list}).items()) {
      const Value match = by_name.find(text_of(container, "name"));
      for (const std::string_view key : {"resources", "resizePolicy"})
        if (match.is_object()) take_member(container, match, key);
    }
  }
}

void prepare_pod_subresource(const Context& context, Value pod, Value old) {
  if (context.subresource == "status") {
    prepare_status_write(pod, old);
  } else if (context.subresource == "ephemeralcontainers") {
    const Value wished = Value::object(pod.arena());
    take_member(wished, pod.get("spec"), "ephemeralContainers");
    restore_pod(pod, old);
    take_member(pod.get("spec"), wished, "ephemeralContainers");
  } else if (context.subresource == "resize") {
    prepare_resize(pod, old);
  }
}

}  // namespace

constinit const Kind kPod = {
    .group = "",
    .name = "Pod",
    .apply_defaults = default_pod,
    .mutate = mutate_pod,
    .prepare_create = prepare_pod_create,
    .prepare_subresource = prepare_pod_subresource,
    .validate = validate_pod,
    .validate_update = validate_pod_update,
    .validate_subresource = validate_pod_subresource,
};

}  // namespace muster::admission
