#include "controllers/job/controller.h"

#include "controllers/runtime/owned.h"

namespace muster::controllers::job {

Controller::Controller(Shared& shared)
    : kinds_{.job = shared.registry.find("batch", "v1", "jobs"),
             .pod = shared.registry.find("", "v1", "pods")},
      jobs_(shared.informers.of("batch", "v1", "jobs")),
      pods_(shared.informers.of("", "v1", "pods")),
      runner_(shared.client, {.name = "job",
                              .sources = {&jobs_, &pods_},
                              .plan = [this](const QueueKey& key,
                                             const Pass& pass) { return plan_for(key, pass.now); },
                              .log = &shared.decisions}) {
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
