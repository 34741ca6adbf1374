#include "controllers/jobset/controller.h"

#include "base/log.h"
#include "base/result.h"
#include "controllers/jobset/names.h"
#include "controllers/runtime/parsed.h"

namespace muster::controllers::jobset {
namespace {

void note_what_is_not_done(const api::JobSet& set) {
  if (!set.failure_policy ||
      set.failure_policy->restart_strategy != api::RestartStrategy::kInPlaceRestart)
    return;
  log::debug("pods are not restarted in place: their Jobs are created anew",
             {{"namespace", set.meta.ns}, {"jobset", set.meta.name}});
}

}  // namespace

Controller::Controller(Shared& shared)
    : kinds_{.job_set = shared.registry.find("jobset.x-k8s.io", "v1alpha2", "jobsets"),
             .job = shared.registry.find("batch", "v1", "jobs"),
             .service = shared.registry.find("", "v1", "services"),
             .claim = shared.registry.find("", "v1", "persistentvolumeclaims"),
             .config_map = shared.registry.find("", "v1", "configmaps")},
      gates_(Gates::of(shared.gates)),
      job_sets_(shared.informers.changes_of("jobset.x-k8s.io", "v1alpha2", "jobsets"),
                reader(api::read_job_set)),
      jobs_(shared.informers.changes_of("batch", "v1", "jobs"), reader(read_child)),
      services_(shared.informers.changes_of("", "v1", "services")),
      claims_(shared.informers.changes_of("", "v1", "persistentvolumeclaims")),
      progress_(shared.metrics),
      events_(make_event_recorder(shared.client, shared.registry, "jobset",
                                  EventRecorder::Form::kSeries)),
      barrier_program_(shared.barrier_program),
      master_ports_(shared.port_is_free),
      limits_(shared.job_limits),
      barriers_(gates_.group_scheduling ? make_barriers(shared) : nullptr),
      runner_(
          shared.client,
          {.name = "jobset",
           .sources = sources(),
           .plan = [this](const QueueKey& key, const Pass& pass) { return plan_for(key, pass); },
           .carried_out = [this](const QueueKey& key, const auto&) { carried_out(key); },
           .creates_for = &job_sets_.informer(),
           .events = events_.get(),
           .log = &shared.decisions}) {
  shared.informers.know_first(jobs_.informer(), job_sets_.informer());
  job_sets_.informer().on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    if (!after) forget({meta.ns, meta.name});
    runner_.add({meta.ns, meta.name});
    if (barriers_) barriers_->look_at({meta.ns, meta.name});
  });
  // The one before too: a Job may have been taken away from its set.
  const auto owner_changed = [this](const auto& before, const auto& after) {
    for (const auto* version : {&before, &after}) {
      const api::OwnerReference* owner = *version ? (*version)->meta().controller() : nullptr;
      if (owner != nullptr && owner->kind == kKind) {
        runner_.add({(*version)->meta().ns, owner->name});
      }
    }
  };
  jobs_.informer().on_change(owner_changed);
  jobs_.on_change(
      [this](const Child* before, const Child* after) { master_ports_.changed(before, after); });
  jobs_.on_change([this](const Child* before, const Child* after) {
    // Jobs that belong to no set are nobody's to hold back.
    const auto counts = [](const Child* job) {
      return job != nullptr && job->replicated_job && is_waiting(*job) ? 1U : 0U;
    };
    waiting_jobs_ += counts(after);
    waiting_jobs_ -= counts(before);
  });
  services_.on_change(owner_changed);
}

std::unique_ptr<Barriers> Controller::make_barriers(Shared& shared) {
  // Each start could be told; people read slower, and each telling is a write.
  static constexpr Duration kTellStarts = std::chrono::milliseconds(500);
  return std::make_unique<Barriers>(shared,
                                    Barriers::Uses{.kinds = kinds_,
                                                   .job_sets = job_sets_,
                                                   .jobs = jobs_,
                                                   .events = *events_,
                                                   .changed =
                                                       [this](const QueueKey& set, bool now) {
                                                         now ? runner_.add(set)
                                                             : runner_.add_after(set, kTellStarts);
                                                       }},
                                    gates_);
}

std::vector<client::Informer*> Controller::sources() const {
  std::vector<client::Informer*> out{&job_sets_.informer(), &jobs_.informer(), &services_,
                                     &claims_};
  if (barriers_) out.push_back(&barriers_->config_maps());
  return out;
}

Plan Controller::plan_for(const QueueKey& key, const Pass& pass) {
  const api::JobSet* const set = job_sets_.find(key.ns, key.name);
  if (set == nullptr) return {};
  note_what_is_not_done(*set);
  const auto children = jobs_.owned_by(set->meta.ns, set->meta.uid);
  View view{.set = *set,
            .children = children,
            .has_service = services_.find(key.ns, subdomain(*set)) != nullptr,
            .gates = gates_};
  for (std::string& name : claim_names(*set)) {
    if (claims_.find(key.ns, name)) view.claims.insert(std::move(name));
  }
  if (barriers_) {
    view.signal = barriers_->signal_of(*set);
    view.starts = barriers_->starts_of(*set);
    view.barrier_program = barrier_program_;
  }
  view.creation = creation_limit(limits_, children, waiting_jobs_);
  view.shares_ports = master_ports_.shared();
  if (const auto given = given_ports_.find(key); given != given_ports_.end())
    view.given_port = given->second;
  Outcome outcome = plan(kinds_, view, pass.now);
  port_requests_.erase(key);
  if (outcome.port_request) port_requests_[key] = *std::move(outcome.port_request);
  progress_.planned(key, *set, outcome.status, pass.now);
  return std::move(outcome.plan);
}

void Controller::carried_out(const QueueKey& key) {
  progress_.carried_out(key);
  given_ports_.erase(key);
  const auto request = port_requests_.extract(key);
  if (request.empty()) return;
  given_ports_[key] = master_ports_.take(request.mapped());
  runner_.add(key);
}

void Controller::forget(const QueueKey& key) {
  progress_.gone(key);
  port_requests_.erase(key);
  given_ports_.erase(key);
}

}  // namespace muster::controllers::jobset
