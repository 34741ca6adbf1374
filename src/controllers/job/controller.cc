#include "controllers/job/controller.h"

#include "controllers/runtime/owned.h"

namespace muster::controllers::job {

Controller::Controller(client::Client& client, const api::Registry& registry,
                       client::Informer& jobs, client::Informer& pods)
    : kinds_{.job = registry.find("batch", "v1", "jobs"), .pod = registry.find("", "v1", "pods")},
      jobs_(jobs),
      pods_(pods),
      runner_("job", client, {&jobs, &pods},
              [this](const QueueKey& key, Time now) { return plan_for(key, now); }) {
  jobs_.on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    runner_.add({meta.ns, meta.name});
  });
  pods_.on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    if (const auto* owner = meta.controller(); owner != nullptr && owner->kind == "Job") {
      runner_.add({meta.ns, owner->name});
    }
  });
}

Plan Controller::plan_for(const QueueKey& key, Time now) const {
  json::Arena arena;
  const json::Value job = parsed(arena, jobs_.find(key.ns, key.name));
  if (job.is_null()) return {};
  const auto pods = owned_by(arena, pods_, key.ns, job.get({"metadata", "uid"}).as_string());
  return plan(kinds_, {.job = job, .pods = pods}, now);
}

}  // namespace muster::controllers::job
