#include "controllers/placement/controller.h"

namespace muster::controllers::placement {

Controller::Controller(Shared& shared)
    : pods_(shared.informers.changes_of("", "v1", "pods"), read_pod),
      nodes_(shared.informers.of("", "v1", "nodes")),
      runner_(
          shared.client,
          {.name = "pod",  // upstream's name, which dashboards ask for
           .sources = {&pods_.informer(), &nodes_},
           .plan = [this](const QueueKey& key, const Pass& pass) { return plan_for(key, pass); },
           .log = &shared.decisions}) {
  pods_.on_change([this](const Pod*, const Pod* after) {
    if (after != nullptr && !after->topology.empty()) add_leader_of(*after);
  });
}

// A follower's event looks at its leader too: it may have been made before the leader moved.
void Controller::add_leader_of(const Pod& pod) {
  if (pod.is_leader) return runner_.add({pod.ns, pod.name});
  for (const Pod* other : pods_.owned_by(pod.ns, pod.controller_uid)) {
    if (other->is_leader) runner_.add({other->ns, other->name});
  }
}

Plan Controller::plan_for(const QueueKey& key, const Pass& pass) const {
  const Pod* const leader = pods_.find(key.ns, key.name);
  if (leader == nullptr) return {};
  const auto pods = pods_.owned_by(leader->ns, leader->controller_uid);
  const client::ObjectPtr node = nodes_.find("", leader->node_name);
  return plan(pods_.informer().resource(),
              {.leader = *leader, .pods = pods, .node = node ? &node->meta() : nullptr}, pass.now);
}

}  // namespace muster::controllers::placement
