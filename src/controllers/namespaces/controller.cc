#include "controllers/namespaces/controller.h"

#include "controllers/runtime/parsed.h"

namespace muster::controllers::namespaces {

Controller::Controller(Shared& shared)
    : client_(shared.client),
      registry_(shared.registry),
      namespaces_(shared.informers.of("", "v1", "namespaces")),
      runner_(shared.client, {.name = "namespace",
                              .sources = {&namespaces_},
                              .plan = [this](const QueueKey& key,
                                             const Pass& pass) { return plan_for(key, pass.now); },
                              .log = &shared.decisions}) {
  namespaces_.on_change([this](const auto&, const auto& after) {
    if (after && after->meta().deletion_time) runner_.add({"", after->meta().name});
  });
  // The last pod is mostly gone long before its time of grace is over.
  client::Informer& pods = shared.informers.metadata_of(*registry_.find("", "v1", "pods"));
  pods.on_change([this, &pods](const auto& before, const auto& after) {
    if (after) return;
    const auto ns = namespaces_.find("", before->meta().ns);
    if (!ns || !ns->meta().deletion_time) return;
    const std::string prefix = ns->meta().name + "/";
    const auto next = pods.objects().lower_bound(prefix);
    const bool was_last = next == pods.objects().end() || !next->first.starts_with(prefix);
    if (was_last) runner_.add({"", ns->meta().name});
  });
}

Controller::~Controller() {
  for (const auto& [ns, survey] : surveys_) survey->stop();
}

Plan Controller::plan_for(const QueueKey& key, Time now) {
  const auto content = contents_.extract(key.name);
  json::Arena arena;
  const json::Value object = parsed(arena, namespaces_.find("", key.name));
  if (object.is_null() || !is_ours_to_empty(object)) return {};
  const auto deleted = parse_time(object.get({"metadata", "deletionTimestamp"}).as_string());
  if (deleted && now < *deleted + kFirstWait) {
    Plan wait;
    wait.look_again = *deleted + kFirstWait - now;
    return wait;
  }
  if (!content.empty()) return plan(namespaces_.resource(), object, content.mapped(), now);
  survey(key.name);
  return {};
}

void Controller::survey(const std::string& ns) {
  auto& slot = surveys_[ns];
  if (slot) return;
  slot = Survey::start(client_, registry_, ns, [this, ns](Content content) {
    surveys_.erase(ns);
    contents_[ns] = std::move(content);
    runner_.add({"", ns});
  });
}

}  // namespace muster::controllers::namespaces
