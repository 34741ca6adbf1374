#include "controllers/placement/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "api/views/pod_phase.h"
#include "controllers/jobset/names.h"
#include "controllers/runtime/pod_conditions.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::placement {
namespace {

using json::Value;

ObjectRef ref_of(const Pod& pod) {
  return {.api_version = "v1", .kind = "Pod", .ns = pod.ns, .name = pod.name, .uid = pod.uid};
}

std::vector<const Pod*> followers_of(const View& view) {
  std::vector<const Pod*> out;
  std::ranges::copy_if(view.pods, std::back_inserter(out), [&](const Pod* pod) {
    return !pod->is_leader && !pod->is_over && !pod->topology.empty() &&
           pod->job_key == view.leader.job_key && pod->controller_uid == view.leader.controller_uid;
  });
  return out;
}

client::Operation explain(const api::Resource& pods, const Pod& pod, Time now) {
  json::Arena arena;
  return patch_condition(pods, ref_of(pod),
                         disruption_target(arena, "ExclusivePlacementViolation",
                                           "Pod violated JobSet exclusive placement policy", now));
}

}  // namespace

Pod read_pod(const store::Object& object, Value content) {
  const api::Meta& meta = object.meta();
  Pod out{.ns = meta.ns, .name = meta.name, .uid = meta.uid};
  const auto topology = meta.annotation(api::annotation::kExclusiveTopology);
  if (!topology || meta.annotation(api::annotation::kNodeSelectorStrategy)) return out;
  out.topology = *topology;
  if (const auto* owner = meta.controller()) out.controller_uid = owner->uid;
  out.job_key = meta.label(api::label::kJobKey).value_or("");
  out.is_leader = meta.annotation(api::kCompletionIndex) == "0";
  out.is_over =
      meta.deletion_time || api::is_end_phase(content.get({"status", "phase"}).as_string());
  const Value spec = content.get("spec");
  out.node_name = spec.get("nodeName").as_string();
  if (const Value domain = spec.get("nodeSelector").get(*topology); domain.is_string()) {
    out.domain = domain.as_string();
  }
  return out;
}

Plan plan(const api::Resource& pods, const View& view, Time now) {
  const Pod& leader = view.leader;
  Plan plan;
  if (!leader.is_leader || leader.topology.empty() || leader.is_over || leader.node_name.empty()) {
    return plan;
  }
  const std::vector<const Pod*> followers = followers_of(view);
  if (view.node == nullptr) {
    if (!followers.empty()) plan.error = "leader topology is unknown (node not found)";
    return plan;
  }
  const auto domain = view.node->label(leader.topology);
  if (!domain) {
    plan.error =
        fmt::format("node {} does not have topology label: {}", leader.node_name, leader.topology);
    return plan;
  }
  const auto is_astray = [&](const Pod* pod) { return pod->domain != *domain; };
  if (std::ranges::none_of(followers, is_astray)) return plan;
  Step explained, deleted;
  for (const Pod* pod : followers) {
    explained.writes.push_back({.operation = explain(pods, *pod, now)});
    deleted.writes.push_back({.operation = remove(pods, ref_of(*pod), Propagation::kBackground)});
  }
  plan.steps = {std::move(explained), std::move(deleted)};
  plan.reason =
      fmt::format("pods of the Job are not where its leader is ({} {})", leader.topology, *domain);
  return plan;
}

}  // namespace muster::controllers::placement
