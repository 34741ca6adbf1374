#include "controllers/jobset/controller.h"

#include "base/log.h"
#include "base/result.h"
#include "controllers/jobset/names.h"
#include "json/parse.h"

namespace muster::controllers::jobset {
namespace {

api::JobSet read_set(const store::Object& object) {
  json::Arena arena;
  const auto value = json::parse(arena, object.bytes());
  MUSTER_ASSERT(value.has_value(), "an informer holds sound objects only");
  return api::read_job_set(*value);
}

}  // namespace

Controller::Controller(Shared& shared)
    : kinds_{.job_set = shared.registry.find("jobset.x-k8s.io", "v1alpha2", "jobsets"),
             .job = shared.registry.find("batch", "v1", "jobs"),
             .service = shared.registry.find("", "v1", "services"),
             .claim = shared.registry.find("", "v1", "persistentvolumeclaims")},
      gates_(Gates::of(shared.gates)),
      metrics_(shared.metrics),
      job_sets_(shared.informers.changes_of("jobset.x-k8s.io", "v1alpha2", "jobsets"), read_set),
      jobs_(shared.informers.changes_of("batch", "v1", "jobs"),
            [](const store::Object& job) { return read_child(job); }),
      services_(shared.informers.changes_of("", "v1", "services")),
      claims_(shared.informers.changes_of("", "v1", "persistentvolumeclaims")),
      events_(make_event_recorder(shared.client, shared.registry, "jobset",
                                  EventRecorder::Form::kSeries)),
      runner_(
          shared.client,
          {.name = "jobset",
           .sources = {&job_sets_.informer(), &jobs_.informer(), &services_, &claims_},
           .plan = [this](const QueueKey& key, const Pass& pass) { return plan_for(key, pass); },
           .carried_out = [this](const QueueKey& key) { carried_out(key); },
           .events = events_.get(),
           .log = &shared.decisions}) {
  job_sets_.informer().on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    runner_.add({meta.ns, meta.name});
  });
  const auto owner_changed = [this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    if (const auto* owner = meta.controller(); owner != nullptr && owner->kind == kKind) {
      runner_.add({meta.ns, owner->name});
    }
  };
  jobs_.informer().on_change(owner_changed);
  services_.on_change(owner_changed);
}

Plan Controller::plan_for(const QueueKey& key, const Pass& pass) {
  progress_.erase(key);
  const api::JobSet* const set = job_sets_.find(key.ns, key.name);
  if (set == nullptr) return {};
  const auto children = jobs_.owned_by(set->meta.uid);
  View view{.set = *set,
            .children = children,
            .has_service = services_.find(key.ns, subdomain(*set)) != nullptr,
            .gates = gates_};
  for (std::string& name : claim_names(*set)) {
    if (claims_.find(key.ns, name)) view.claims.insert(std::move(name));
  }
  Outcome outcome = plan(kinds_, view, pass.now);
  Progress progress{.restarts = outcome.status.restarts - set->status.restarts};
  if (set->status.terminal_state.empty()) progress.terminal_state = outcome.status.terminal_state;
  if (progress.restarts > 0 || !progress.terminal_state.empty()) progress_[key] = progress;
  return std::move(outcome.plan);
}

// Only what has been written counts: a conflict would count twice.
void Controller::carried_out(const QueueKey& key) {
  const auto found = progress_.extract(key);
  if (found.empty()) return;
  const Progress& progress = found.mapped();
  const Metrics::Labels labels{{"jobset_name", key.name}, {"namespace", key.ns}};
  if (progress.terminal_state == "Completed") {
    metrics_.counter("jobset_completed_total", "JobSets that completed.", labels).add();
  } else if (progress.terminal_state == "Failed") {
    metrics_.counter("jobset_failed_total", "JobSets that failed.", labels).add();
  }
  if (progress.restarts > 0) {
    metrics_.counter("muster_jobset_restarts_total", "Restarts of whole JobSets.")
        .add(progress.restarts);
  }
}

}  // namespace muster::controllers::jobset
