#include "admission/pod/priority.h"

#include <fmt/format.h>

#include "admission/rules/edit.h"
#include "admission/rules/lookup.h"
#include "admission/rules/refusal.h"

namespace muster::admission {
namespace {

constexpr std::string_view kGroup = "scheduling.k8s.io";
constexpr const char* kPreemptsLower = "PreemptLowerPriority";

struct Priority {
  std::string_view class_name;
  std::int64_t value = 0;
  std::string_view preemption_policy = kPreemptsLower;
};

Priority priority_of(Value priority_class) {
  const std::string_view policy = text_of(priority_class, "preemptionPolicy");
  return {.class_name = text_of(priority_class.get("metadata"), "name"),
          .value = int_of(priority_class, "value"),
          .preemption_policy = policy.empty() ? kPreemptsLower : policy};
}

// The class for those who name none: of several global defaults the lowest.
Priority default_priority(const Context& context, json::Arena& arena) {
  Priority chosen;
  for (const Value each :
       list_objects(context, arena, {.group = kGroup, .plural = "priorityclasses"})) {
    if (!each.get("globalDefault").as_bool()) continue;
    const Priority priority = priority_of(each);
    if (chosen.class_name.empty() || priority.value < chosen.value) chosen = priority;
  }
  return chosen;
}

Result<Priority> resolve(const Context& context, Value spec) {
  const std::string_view name = text_of(spec, "priorityClassName");
  if (name.empty()) return default_priority(context, spec.arena());
  const Value found = find_object(context, spec.arena(),
                                  {.group = kGroup, .plural = "priorityclasses", .name = name});
  if (!found.is_null()) return priority_of(found);
  if (const std::int64_t value = system_priority(name); value != 0)
    return Priority{.class_name = name, .value = value};
  return refuse(context, fmt::format("no PriorityClass with name {} was found", name));
}

void set_class(Value spec, const Priority& priority) {
  if (!priority.class_name.empty()) spec.set("priorityClassName", priority.class_name);
  spec.set("priority", Value::of(priority.value));
}

}  // namespace

std::int64_t system_priority(std::string_view class_name) {
  if (class_name == "system-cluster-critical") return 2'000'000'000;
  if (class_name == "system-node-critical") return 2'000'001'000;
  return 0;
}

Status admit_pod_priority(const Context& context, Value pod, Value old) {
  const Value spec = pod.get("spec");
  if (context.operation != Operation::kCreate) {
    for (const std::string_view key : {"priority", "preemptionPolicy"})
      if (!has_value(spec, key)) take_member(spec, old.get("spec"), key);
    return {};
  }
  MUSTER_TRY(const Priority priority, resolve(context, spec));
  if (has_value(spec, "priority") && int_of(spec, "priority") != priority.value)
    return refuse(context,
                  fmt::format("the integer value of priority ({}) must not be provided in pod "
                              "spec; priority admission controller computed {} from the "
                              "given PriorityClass name",
                              int_of(spec, "priority"), priority.value));
  const std::string_view policy = text_of(spec, "preemptionPolicy");
  if (!policy.empty() && policy != priority.preemption_policy)
    return refuse(context,
                  fmt::format("the string value of PreemptionPolicy ({}) must not be provided "
                              "in pod spec; priority admission controller computed {} from "
                              "the given PriorityClass name",
                              policy, priority.preemption_policy));
  set_class(spec, priority);
  spec.set("preemptionPolicy", priority.preemption_policy);
  return {};
}

Status admit_pod_group_priority(const Context& context, Value group) {
  const Value spec = group.get("spec");
  if (context.operation != Operation::kCreate || !spec.is_object()) return {};
  MUSTER_TRY(const Priority priority, resolve(context, spec));
  if (has_value(spec, "priority") && int_of(spec, "priority") != priority.value)
    return refuse(context, fmt::format("priority set in the pod group ({}) must match the priority "
                                       "computed ({}) based on the priority class set in the spec",
                                       int_of(spec, "priority"), priority.value));
  set_class(spec, priority);
  return {};
}

}  // namespace muster::admission
