#include "controllers/manager/controller.h"

#include "controllers/manager/plan.h"
#include "controllers/runtime/parsed.h"

namespace muster::controllers::manager {

Controller::Controller(Shared& shared)
    : namespaces_(shared.informers.of("", "v1", "namespaces")),
      deployments_(shared.informers.of("apps", "v1", "deployments")),
      runner_(shared.client,
              {.name = "manager",
               .sources = {&namespaces_, &deployments_},
               .plan = [this](const QueueKey&, const Pass& pass) { return plan_for(pass); },
               .log = &shared.decisions}) {
  const QueueKey key{std::string(kNamespace), std::string(kDeployment)};
  namespaces_.on_change([this, key](const auto& before, const auto& after) {
    if ((after ? after : before)->meta().name == key.ns) runner_.add(key);
  });
  deployments_.on_change([this, key](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    if (meta.name == key.name && meta.ns == key.ns) runner_.add(key);
  });
  runner_.add(key);
}

Plan Controller::plan_for(const Pass& pass) const {
  const client::ObjectPtr ns = namespaces_.find("", kNamespace);
  if (ns && ns->meta().deletion_time) return {};  // comes again when it is gone
  json::Arena arena;
  return plan({namespaces_.resource(), deployments_.resource()},
              parsed(arena, deployments_.find(kNamespace, kDeployment)), pass.now);
}

}  // namespace muster::controllers::manager
