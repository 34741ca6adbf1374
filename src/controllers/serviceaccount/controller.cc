#include "controllers/serviceaccount/controller.h"

namespace muster::controllers::serviceaccount {

Controller::Controller(Shared& shared)
    : namespaces_(shared.informers.of("", "v1", "namespaces")),
      accounts_(shared.informers.of("", "v1", "serviceaccounts")),
      runner_(shared.client,
              {.name = "serviceaccount",
               .sources = {&namespaces_, &accounts_},
               .plan = [this](const QueueKey& key, const Pass&) { return plan_for(key); },
               .log = &shared.decisions}) {
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
  Plan plan;
  plan.reason = "the namespace has no default account";
  plan.then(
      {.operation =
           {.verb = client::Verb::kCreate,
            .resource = &accounts_.resource(),
            .ns = key.name,
            .name = "default",
            .body = R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})"},
       .may_exist = true});
  return plan;
}

}  // namespace muster::controllers::serviceaccount
