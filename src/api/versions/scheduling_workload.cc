// Workload of scheduling.k8s.io: v1alpha1 and v1alpha2, stored as v1beta1 (spec: gang 1.3 to 1.5).
#include <algorithm>

#include "api/versions/conversion.h"
#include "api/versions/scheduling_group.h"

namespace muster::api {
namespace {

using json::Value;

constexpr std::string_view kTemplates = "podGroupTemplates";
constexpr std::string_view kComposites = "compositePodGroupTemplates";

// Null if there is none of the name.
Value template_named(Value templates, std::string_view name) {
  const auto found = std::ranges::find_if(
      templates.items(), [&](Value each) { return each.get("name").as_string() == name; });
  return found == templates.items().end() ? Value() : *found;
}

// Calls with each template of the object and the live one of the same name.
template <typename Keep>
void keep_in_templates(Value workload, Value live, const Keep& keep) {
  const Value before = live.get({"spec", kTemplates});
  for (const Value each : workload.get({"spec", kTemplates}).items()) {
    const Value old = template_named(before, each.get("name").as_string());
    if (each.is_object() && old.is_object()) keep(each, old);
  }
}

// --- v1alpha2: disruptionMode is a word, and there are no composites ---

void workload_v1alpha2_to_storage(Value workload) {
  for (const Value each : workload.get({"spec", kTemplates}).items())
    disruption_mode_to_storage(each);
}

void workload_v1alpha2_from_storage(Value workload) {
  const Value spec = workload.get("spec");
  if (!spec.is_object()) return;
  spec.erase(kComposites);
  for (const Value each : spec.get(kTemplates).items()) {
    if (!each.is_object()) continue;
    disruption_mode_from_storage(each);
    each.erase("preemptionPolicy");
  }
}

void keep_workload_v1alpha2(Value workload, Value live) {
  keep_member(workload.get("spec"), live.get("spec"), kComposites);
  keep_in_templates(workload, live,
                    [](Value each, Value old) { keep_member(each, old, "preemptionPolicy"); });
}

// --- v1alpha1: groups instead of templates, which have a name and a policy only ---

void workload_v1alpha1_to_storage(Value workload) {
  const Value spec = workload.get("spec");
  if (!spec.is_object()) return;
  rename_member(spec, "podGroups", kTemplates);
  for (const Value each : spec.get(kTemplates).items())
    if (each.is_object()) rename_member(each, "policy", "schedulingPolicy");
}

void workload_v1alpha1_from_storage(Value workload) {
  const Value spec = workload.get("spec");
  if (!spec.is_object()) return;
  spec.erase(kComposites);
  rename_member(spec, kTemplates, "podGroups");
  for (const Value each : spec.get("podGroups").items()) {
    if (!each.is_object()) continue;
    rename_member(each, "schedulingPolicy", "policy");
    each.erase_if(
        [](const json::Member& member) { return member.key != "name" && member.key != "policy"; });
  }
}

void keep_workload_v1alpha1(Value workload, Value live) {
  keep_member(workload.get("spec"), live.get("spec"), kComposites);
  keep_in_templates(workload, live, [](Value each, Value old) {
    for (const json::Member& member : old.members())
      if (member.key != "schedulingPolicy") keep_member(each, old, member.key);
  });
}

}  // namespace

constinit const Conversion kWorkloadV1alpha1 = {.group = "scheduling.k8s.io",
                                                .kind = "Workload",
                                                .version = "v1alpha1",
                                                .to_storage = workload_v1alpha1_to_storage,
                                                .from_storage = workload_v1alpha1_from_storage,
                                                .keep = keep_workload_v1alpha1};

constinit const Conversion kWorkloadV1alpha2 = {.group = "scheduling.k8s.io",
                                                .kind = "Workload",
                                                .version = "v1alpha2",
                                                .to_storage = workload_v1alpha2_to_storage,
                                                .from_storage = workload_v1alpha2_from_storage,
                                                .keep = keep_workload_v1alpha2};

}  // namespace muster::api
