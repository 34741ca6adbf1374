#include "scheduler/place.h"

namespace muster::scheduler {
namespace {

bool is_ready(json::Value node) {
  for (const json::Value condition : node.get({"status", "conditions"}).items()) {
    if (condition.get("type").as_string() == "Ready")
      return condition.get("status").as_string() == "True";
  }
  return false;
}

}  // namespace

bool wants_node(json::Value pod) {
  const json::Value spec = pod.get("spec");
  return spec.get("nodeName").as_string().empty() && spec.get("schedulingGates").empty() &&
         spec.get("schedulerName").as_string() == "default-scheduler" &&
         pod.get({"metadata", "deletionTimestamp"}).is_null();
}

std::string place(json::Value pod, std::span<const json::Value> nodes) {
  if (!wants_node(pod)) return {};
  for (const json::Value node : nodes) {
    if (is_ready(node) && !node.get({"spec", "unschedulable"}).as_bool()) {
      return std::string(node.get({"metadata", "name"}).as_string());
    }
  }
  return {};
}

}  // namespace muster::scheduler
