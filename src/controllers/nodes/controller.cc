#include "controllers/nodes/controller.h"

namespace muster::controllers::nodes {
namespace {

constexpr std::string_view kLeases = "kube-node-lease";  // the namespace

std::vector<Taint> evicting(const Node& node) {
  std::vector<Taint> out;
  for (const Taint& each : node.taints)
    if (each.taint.effect == "NoExecute") out.push_back(each);
  return out;
}

}  // namespace

Controller::Controller(Shared& shared)
    : client_(shared.client),
      node_informer_(shared.informers.changes_of("", "v1", "nodes")),
      pod_informer_(shared.informers.changes_of("", "v1", "pods")),
      lease_informer_(shared.informers.changes_of("coordination.k8s.io", "v1", "leases")),
      nodes_(node_informer_, reader(read_node)),
      pods_(pod_informer_, read_pod),
      last_look_(moment()),
      node_events_(make_event_recorder(shared.client, shared.registry, "node-controller",
                                       EventRecorder::Form::kCore)),
      pod_events_(make_event_recorder(shared.client, shared.registry, "taint-eviction-controller",
                                      EventRecorder::Form::kCore)),
      node_runner_(shared.client,
                   {.name = "node",
                    .sources = {&node_informer_, &lease_informer_},
                    .plan = [this](const QueueKey& key,
                                   const Pass& pass) { return plan_for_node(key, pass.now); },
                    .events = node_events_.get(),
                    .log = &shared.decisions}),
      pod_runner_(shared.client,
                  {.name = "taint-eviction",
                   .sources = {&node_informer_, &pod_informer_},
                   .plan = [this](const QueueKey& key,
                                  const Pass& pass) { return plan_for_pod(key, pass.now); },
                   .events = pod_events_.get(),
                   .log = &shared.decisions}) {
  nodes_.on_change([this](const Node* before, const Node* after) { node_changed(before, after); });
  pods_.on_change([this](const Pod* before, const Pod* after) { pod_changed(before, after); });
  lease_informer_.on_change(
      [this](const auto& before, const auto& after) { lease_changed(before, after); });
  wait();
}

void Controller::node_changed(const Node* before, const Node* after) {
  count_ready(static_cast<int>(after != nullptr && after->is_ready()) -
              static_cast<int>(before != nullptr && before->is_ready()));
  if (after == nullptr) {
    watched_.erase(before->ref.name);
    return;
  }
  Watched& watched = watched_[after->ref.name];
  watched.signs.saw(*after, moment());
  note_taints(watched, *after);
  node_runner_.add({"", after->ref.name});
  const bool same_to_pods = before != nullptr && before->is_unready() == after->is_unready() &&
                            evicting(*before) == evicting(*after);
  if (!same_to_pods) look_at_pods(after->ref.name);
}

void Controller::note_taints(Watched& watched, const Node& node) {
  std::vector<SeenTaint> taints;
  for (Taint& each : evicting(node)) {
    const auto known = std::ranges::find(watched.taints, each, &SeenTaint::taint);
    const Duration since = known != watched.taints.end() ? known->since
                           : each.added                  ? moment_of(*each.added)
                                                         : moment();
    taints.push_back({.taint = std::move(each), .since = since});
  }
  watched.taints = std::move(taints);
}

// What the clock says now tells how old it is. What comes from the future is new.
Duration Controller::moment_of(Time then) {
  const Duration age = client_.loop().clock().now() - then;
  return moment() - std::max(age, Duration::zero());
}

// The first ready node, and the loss of the last one, change what is asked of all others.
void Controller::count_ready(int change) {
  const bool any_before = ready_ > 0;
  ready_ += change;
  if (any_before == (ready_ > 0)) return;
  for (const auto& [path, node] : nodes_.all()) node_runner_.add({"", node->ref.name});
}

void Controller::lease_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  const api::Meta& meta = after ? after->meta() : before->meta();
  if (meta.ns != kLeases) return;
  if (after) {
    watched_[meta.name].signs.saw(read_lease(lease_informer_.content()), moment());
  } else if (nodes_.find("", meta.name) == nullptr) {
    watched_.erase(meta.name);
  }
}

void Controller::pod_changed(const Pod* before, const Pod* after) {
  const Pod& pod = after != nullptr ? *after : *before;
  const QueueKey key{pod.ref.ns, pod.ref.name};
  const bool is_same = before != nullptr && after != nullptr && after->ref.uid == before->ref.uid;
  if (before != nullptr && !before->node.empty() && (!is_same || after->node != before->node)) {
    const auto at = pods_of_.find(before->node);
    at->second.erase(key);
    if (at->second.empty()) pods_of_.erase(at);
  }
  if (after == nullptr || after->node.empty()) return;
  auto& pods = pods_of_[after->node];
  if (!pods.contains(key)) pods.emplace(key, moment_of(after->created));
  const Node* const node = nodes_.find("", after->node);
  if (node != nullptr && (node->is_unready() || !evicting(*node).empty())) pod_runner_.add(key);
}

void Controller::look_at_pods(const std::string& node) {
  const auto at = pods_of_.find(node);
  if (at == pods_of_.end()) return;
  for (const auto& [key, since] : at->second) pod_runner_.add(key);
}

void Controller::wait() {
  client_.loop().after(kPeriod, lifetime_.guard([this] {
    look();
    wait();
  }));
}

void Controller::look() {
  const Duration before = std::exchange(last_look_, moment());
  const bool held_up = last_look_ - before > kHeldUp;
  for (auto& [name, watched] : watched_) {
    if (held_up) watched.signs.start_anew(last_look_);
    if (!watched.signs.is_lost(last_look_)) continue;
    const Node* const node = nodes_.find("", name);
    if (node != nullptr && (node->ready() == nullptr || node->ready()->status != "Unknown"))
      node_runner_.add({"", name});
  }
}

Plan Controller::plan_for_node(const QueueKey& key, Time now) {
  const Node* const node = nodes_.find("", key.name);
  const auto watched = watched_.find(key.name);
  if (node == nullptr || watched == watched_.end()) return {};
  return plan_node(node_informer_.resource(), *node,
                   {.lost = watched->second.signs.is_lost(moment()), .any_ready = ready_ > 0}, now);
}

Plan Controller::plan_for_pod(const QueueKey& key, Time now) {
  const Pod* const pod = pods_.find(key.ns, key.name);
  const Node* const node = pod == nullptr ? nullptr : nodes_.find("", pod->node);
  const auto watched = node == nullptr ? watched_.end() : watched_.find(pod->node);
  if (watched == watched_.end()) return {};
  return plan_pod(pod_informer_.resource(), *pod, *node,
                  {.since = pods_of_.at(pod->node).at(key),
                   .taints = watched->second.taints,
                   .moment = moment()},
                  now);
}

}  // namespace muster::controllers::nodes
