#include "controllers/podgc/controller.h"

#include "controllers/runtime/fair_group.h"

namespace muster::controllers::podgc {

Controller::Controller(Shared& shared)
    : client_(shared.client),
      pod_informer_(shared.informers.changes_of("", "v1", "pods")),
      node_informer_(shared.informers.changes_of("", "v1", "nodes")),
      pods_(pod_informer_, read_pod),
      nodes_(node_informer_, reader(read_node)),
      runner_(shared.client, {.name = "podgc",
                              .sources = {&pod_informer_, &node_informer_},
                              .plan = [this](const QueueKey& key,
                                             const Pass& pass) { return plan_for(key, pass.now); },
                              .group = group_by(pod_informer_),
                              .log = &shared.decisions}) {
  wait();
}

void Controller::wait() {
  client_.loop().after(kPeriod, lifetime_.guard([this] {
    if (pod_informer_.synced() && node_informer_.synced()) look();
    wait();
  }));
}

std::set<std::string> Controller::missing_nodes() const {
  std::set<std::string> missing;
  for (const auto& [path, pod] : pods_.all()) {
    if (!pod->node.empty() && nodes_.find("", pod->node) == nullptr) missing.insert(pod->node);
  }
  return missing;
}

void Controller::look() {
  const std::vector<std::string> due =
      quarantine_.update(missing_nodes(), client_.loop().monotonic());
  if (due.empty()) return collect({});
  const auto round = std::make_shared<Round>(Round{.lost = {}, .open = due.size()});
  for (const std::string& node : due) ask(round, node);
}

// The cache may be behind: only the server's word counts.
void Controller::ask(const std::shared_ptr<Round>& round, const std::string& node) {
  client_.get(node_informer_.resource(), "", node,
              lifetime_.guard([this, round, node](const Result<std::string>& answer) {
                if (!answer && answer.error().code == Code::kNotFound) round->lost.insert(node);
                if (--round->open == 0) collect(round->lost);
              }));
}

void Controller::collect(const std::set<std::string>& lost_nodes) {
  Observed observed{.pods = {}, .nodes = {}, .lost_nodes = lost_nodes};
  for (const auto& [path, pod] : pods_.all()) observed.pods.push_back(pod.get());
  for (const auto& [path, node] : nodes_.all()) observed.nodes.emplace(path.substr(1), *node);
  sentences_.clear();
  for (const Doomed& doomed : choose(observed)) {
    const QueueKey key{doomed.pod->ref.ns, doomed.pod->ref.name};
    sentences_[key] = {doomed.pod->ref.uid, doomed.disrupted, doomed.why};
    runner_.add(key);
  }
}

Plan Controller::plan_for(const QueueKey& key, Time now) {
  const auto sentence = sentences_.find(key);
  const Pod* const pod = pods_.find(key.ns, key.name);
  if (sentence == sentences_.end() || pod == nullptr || pod->ref.uid != sentence->second.uid)
    return {};
  return plan(pod_informer_.resource(),
              {.pod = pod, .disrupted = sentence->second.disrupted, .why = sentence->second.why},
              now);
}

}  // namespace muster::controllers::podgc
