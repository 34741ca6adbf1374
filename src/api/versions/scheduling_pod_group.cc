// PodGroup of scheduling.k8s.io: v1alpha2, stored as v1beta1 (spec: gang 1.4, 1.5).
#include "api/versions/conversion.h"
#include "api/versions/scheduling_group.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kScheduled = "PodGroupScheduled";
constexpr std::string_view kInitiallyScheduled = "PodGroupInitiallyScheduled";

// v1beta1 has another name for the condition. The names change places, so that nothing is lost if
// somebody wrote both.
void swap_condition_names(Value group) {
  for (const Value condition : group.get({"status", "conditions"}).items()) {
    const std::string_view type = condition.get("type").as_string();
    if (type == kScheduled) {
      condition.set("type", Value::view(kInitiallyScheduled));
    } else if (type == kInitiallyScheduled) {
      condition.set("type", Value::view(kScheduled));
    }
  }
}

void pod_group_to_storage(Value group) {
  swap_condition_names(group);
  const Value spec = group.get("spec");
  if (!spec.is_object()) return;
  const Value template_ref = spec.get({"podGroupTemplateRef", "workload"});
  spec.erase("podGroupTemplateRef");
  if (template_ref.is_object()) {
    rename_member(template_ref, "podGroupTemplateName", "templateName");
    spec.set("workloadRef", template_ref);
  }
  disruption_mode_to_storage(spec);
}

void pod_group_from_storage(Value group) {
  swap_condition_names(group);
  const Value spec = group.get("spec");
  if (!spec.is_object()) return;
  const Value reference = spec.get("workloadRef");
  spec.erase("workloadRef");
  if (reference.is_object()) {
    rename_member(reference, "templateName", "podGroupTemplateName");
    spec.object_at("podGroupTemplateRef").set("workload", reference);
  }
  disruption_mode_from_storage(spec);
  spec.erase("parentCompositePodGroupName");
  spec.erase("preemptionPolicy");
}

void keep_pod_group(Value group, Value live) {
  for (const std::string_view key : {"parentCompositePodGroupName", "preemptionPolicy"})
    keep_member(group.get("spec"), live.get("spec"), key);
}

}  // namespace

constinit const Conversion kPodGroupV1alpha2 = {.group = "scheduling.k8s.io",
                                                .kind = "PodGroup",
                                                .version = "v1alpha2",
                                                .to_storage = pod_group_to_storage,
                                                .from_storage = pod_group_from_storage,
                                                .keep = keep_pod_group};

}  // namespace muster::api
