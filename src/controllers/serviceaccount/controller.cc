#include "controllers/serviceaccount/controller.h"

namespace muster::controllers::serviceaccount {

Controller::Controller(client::Client& client, client::Informer& namespaces,
                       client::Informer& accounts)
    : namespaces_(namespaces),
      accounts_(accounts),
      runner_("serviceaccount", client, {&namespaces, &accounts},
              [this](const QueueKey& key, Time) { return plan_for(key); }) {
  namespaces_.on_change([this](const auto&, const auto& after) {
    if (after) runner_.add({"", after->meta().name});
  });
  accounts_.on_change([this](const auto& before, const auto& after) {
    if (!after) runner_.add({"", before->meta().ns});
  });
}

Plan Controller::plan_for(const QueueKey& key) const {
  const client::ObjectPtr ns = namespaces_.find("", key.name);
  if (!ns || ns->meta().deletion_time || accounts_.find(key.name, "default")) return {};
  Plan plan{.writes = {}, .look_again = {}, .reason = "the namespace has no default account"};
  plan.writes.push_back(
      {.verb = client::Verb::kCreate,
       .resource = &accounts_.resource(),
       .ns = key.name,
       .name = "default",
       .body = R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})"});
  return plan;
}

}  // namespace muster::controllers::serviceaccount
