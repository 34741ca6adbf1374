#include "controllers/jobset/controller.h"

#include "controllers/runtime/owned.h"

namespace muster::controllers::jobset {

Controller::Controller(Shared& shared)
    : kinds_{.job_set = shared.registry.find("jobset.x-k8s.io", "v1alpha2", "jobsets"),
             .job = shared.registry.find("batch", "v1", "jobs"),
             .service = shared.registry.find("", "v1", "services")},
      job_sets_(shared.informers.of("jobset.x-k8s.io", "v1alpha2", "jobsets")),
      jobs_(shared.informers.of("batch", "v1", "jobs")),
      services_(shared.informers.of("", "v1", "services")),
      runner_(shared.client, {.name = "jobset",
                              .sources = {&job_sets_, &jobs_, &services_},
                              .plan = [this](const QueueKey& key,
                                             const Pass& pass) { return plan_for(key, pass.now); },
                              .log = &shared.decisions}) {
  job_sets_.on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    runner_.add({meta.ns, meta.name});
  });
  const auto owner_changed = [this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    if (const auto* owner = meta.controller(); owner != nullptr && owner->kind == "JobSet") {
      runner_.add({meta.ns, owner->name});
    }
  };
  jobs_.on_change(owner_changed);
  services_.on_change(owner_changed);
}

Plan Controller::plan_for(const QueueKey& key, Time now) const {
  json::Arena arena;
  const json::Value job_set = parsed(arena, job_sets_.find(key.ns, key.name));
  if (job_set.is_null()) return {};
  const auto jobs = owned_by(arena, jobs_, key.ns, job_set.get({"metadata", "uid"}).as_string());
  const std::string_view named = job_set.get({"spec", "network", "subdomain"}).as_string();
  const bool has_service =
      services_.find(key.ns, named.empty() ? std::string_view(key.name) : named) != nullptr;
  return plan(kinds_, {.job_set = job_set, .jobs = jobs, .has_service = has_service}, now);
}

}  // namespace muster::controllers::jobset
