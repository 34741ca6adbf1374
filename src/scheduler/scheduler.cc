#include "scheduler/scheduler.h"

#include "controllers/runtime/parsed.h"
#include "json/write.h"
#include "scheduler/place.h"

namespace muster::scheduler {
namespace {

client::Operation bind(const api::Resource& pods, json::Value pod, const std::string& node) {
  json::Arena arena;
  const json::Value metadata = pod.get("metadata");
  json::Value binding = json::Value::object(arena);
  binding.set("apiVersion", "v1");
  binding.set("kind", "Binding");
  binding.object_at("metadata").set("name", metadata.get("name"));
  // A pod of the same name that came later is not the one that was placed.
  binding.object_at("metadata").set("uid", metadata.get("uid"));
  binding.object_at("target").set("kind", "Node");
  binding.object_at("target").set("name", node);
  return {.verb = client::Verb::kCreate,
          .resource = &pods,
          .ns = std::string(metadata.get("namespace").as_string()),
          .name = std::string(metadata.get("name").as_string()),
          .subresource = "binding",
          .body = json::write(binding)};
}

}  // namespace

Scheduler::Scheduler(controllers::Shared& shared)
    : pods_(shared.informers.of("", "v1", "pods")),
      nodes_(shared.informers.of("", "v1", "nodes")),
      runner_(shared.client, {.name = "scheduler",
                              .sources = {&pods_, &nodes_},
                              .plan = [this](const controllers::QueueKey& key,
                                             const controllers::Pass&) { return plan_for(key); },
                              .log = &shared.decisions}) {
  pods_.on_change([this](const auto&, const auto& after) {
    if (after) runner_.add({after->meta().ns, after->meta().name});
  });
  nodes_.on_change([this](const auto&, const auto&) { retry_unplaced(); });
}

controllers::Plan Scheduler::plan_for(const controllers::QueueKey& key) const {
  json::Arena arena;
  const json::Value pod = controllers::parsed(arena, pods_.find(key.ns, key.name));
  if (!wants_node(pod)) return {};
  std::vector<json::Value> nodes;
  for (const auto& [name, node] : nodes_.objects())
    nodes.push_back(controllers::parsed(arena, node));
  const std::string node = place(pod, nodes);
  if (node.empty()) return {};
  controllers::Plan plan;
  plan.reason = "placed on " + node;
  plan.then({.operation = bind(pods_.resource(), pod, node)});
  return plan;
}

void Scheduler::retry_unplaced() {
  for (const auto& [key, pod] : pods_.objects()) runner_.add({pod->meta().ns, pod->meta().name});
}

}  // namespace muster::scheduler
