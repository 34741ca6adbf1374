// The Node: says itself what it has; starts tainted until it is ready.
#include "admission/kinds.h"
#include "admission/pod/pod_defaults.h"
#include "admission/pod/resource_validation.h"
#include "admission/pod/scheduling_validation.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";

void default_node(const Context&, Value node) {
  const Value spec = node.object_at("spec");
  if (!text_of(spec, "podCIDR").empty() && spec.get("podCIDRs").empty())
    spec.array_at("podCIDRs").push_back(spec.get("podCIDR"));
  const Value status = node.object_at("status");
  if (const Value capacity = status.get("capacity");
      !has_value(status, "allocatable") && !capacity.empty())
    status.set("allocatable", json::clone(status.arena(), capacity));
  round_resource_list(status.get("capacity"));
  round_resource_list(status.get("allocatable"));
}

// TaintNodesByCondition.
Status taint_new_node(const Context& context, Value node, Value) {
  if (context.operation != Operation::kCreate) return {};
  const Value taints = node.object_at("spec").array_at("taints");
  for (const Value taint : taints.items())
    if (text_of(taint, "key") == kNotReady && text_of(taint, "effect") == "NoSchedule") return {};
  const Value taint = Value::object(taints.arena());
  taint.set("key", Value::view(kNotReady));
  taint.set("effect", Value::view("NoSchedule"));
  taints.push_back(taint);
  return {};
}

void validate_node(const Context&, Value node, FieldErrors& errors) {
  // Upstream looks for taints below metadata when it names the path.
  validate_taints(node.get({"spec", "taints"}), Path("metadata").child("taints"), errors);
  const Value status = node.get("status");
  for (const std::string_view list : {"capacity", "allocatable"})
    for (const json::Member& amount : status.get(list).members())
      validate_amount(amount.key, amount.value, Path("status").child(list).child(amount.key),
                      errors);
}

void validate_node_update(const Context&, Value node, Value old, FieldErrors& errors) {
  validate_taints(node.get({"spec", "taints"}), Path("metadata").child("taints"), errors);
  const Value spec = node.get("spec");
  const Value before = old.get("spec");
  if (!before.get("podCIDRs").empty() && !json::equal(spec.get("podCIDRs"), before.get("podCIDRs")))
    errors.forbidden(Path("spec").child("podCIDRs"),
                     "node updates may not change podCIDR except from \"\" to valid");
  if (!text_of(before, "providerID").empty() &&
      text_of(spec, "providerID") != text_of(before, "providerID"))
    errors.forbidden(Path("spec").child("providerID"),
                     "node updates may not change providerID except from \"\" to valid");
}

void validate_node_status(const Context& context, Value node, Value, FieldErrors& errors) {
  validate_node(context, node, errors);
}

}  // namespace

constinit const Kind kNode = {
    .group = "",
    .name = "Node",
    .keeps_status_on_create = true,
    .apply_defaults = default_node,
    .mutate = taint_new_node,
    .validate = validate_node,
    .validate_update = validate_node_update,
    .validate_subresource = validate_node_status,
};

}  // namespace muster::admission
