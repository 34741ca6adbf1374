#include "controllers/job/controller.h"

#include "controllers/job/lag.h"
#include "controllers/job/orphan.h"
#include "controllers/runtime/fair_group.h"

namespace muster::controllers::job {
namespace {

// Between two looks at kinds that lag behind each other.
constexpr Duration kCatchUp = std::chrono::seconds(1);

// Changes of readiness wait so long for others of their kind.
constexpr Duration kBatch = std::chrono::milliseconds(100);

// Of a Job that cannot be helped, for want of quota for instance: so soon after there is some, it
// goes on.
constexpr Duration kLongestBackoff = std::chrono::minutes(1);

// Pods of local processes live for milliseconds: their successors should not wait for long.
constexpr int kRestFactor = 4;

QueueKey key_of(const ObjectRef& ref) { return {ref.ns, ref.name}; }

bool is_unready(const Pod* pod) {
  return pod != nullptr && pod->owned_by_job && pod->is_active() && !pod->ready;
}

}  // namespace

Controller::Controller(Shared& shared)
    : kinds_{.job = shared.registry.find("batch", "v1", "jobs"),
             .pod = shared.registry.find("", "v1", "pods")},
      jobs_(shared.informers.changes_of("batch", "v1", "jobs"), read_job),
      pods_(shared.informers.changes_of("", "v1", "pods"), read_pod),
      clock_(shared.client.loop().clock()),
      metrics_(shared.metrics),
      events_(make_event_recorder(shared.client, shared.registry, "job-controller",
                                  EventRecorder::Form::kCore)),
      room_(shared.pod_limits),
      going_(shared.going),
      jobs_runner_(
          shared.client,
          {.name = "job",
           .sources = {&jobs_.informer(), &pods_.informer()},
           .plan = [this](const QueueKey& key, const Pass& pass) { return plan_job(key, pass); },
           .carried_out = [this](const QueueKey& key, const auto&) { carried_out(key); },
           .group = group_by(jobs_.informer()),
           .creates_for = &jobs_.informer(),
           .longest_backoff = kLongestBackoff,
           .rest_factor = kRestFactor,
           .events = events_.get(),
           .log = &shared.decisions}),
      orphans_runner_(shared.client,
                      {.name = "job-orphans",
                       .sources = {&jobs_.informer(), &pods_.informer()},
                       .plan = [this](const QueueKey& key, const Pass&) { return plan_pod(key); },
                       .group = group_by(pods_.informer()),
                       .longest_backoff = kLongestBackoff,
                       .log = &shared.decisions}) {
  shared.informers.know_first(pods_.informer(), jobs_.informer());
  jobs_.on_change([this](const Job* before, const Job* after) { job_changed(before, after); });
  pods_.on_change([this](const Pod* before, const Pod* after) { pod_changed(before, after); });
}

bool Controller::goes_with_owner(const Job& job) const {
  const client::ObjectPtr object = jobs_.informer().find(job.ref.ns, job.ref.name);
  return going_ != nullptr && object && going_->goes(object->meta());
}

void Controller::job_changed(const Job* before, const Job* after) {
  const Job& job = after != nullptr ? *after : *before;
  jobs_runner_.add(key_of(job.ref));
  if (before == nullptr && job.is_managed_elsewhere()) metrics_.add_managed_elsewhere(job);
  if (after != nullptr && !after->is_finished()) return;
  backoff_.erase(job.ref.uid);
  for (const Pod* pod : pods_.owned_by(job.ref.ns, job.ref.uid)) let_go_if_orphan(*pod);
}

void Controller::pod_changed(const Pod* before, const Pod* after) {
  index_pod(before, after);
  wake(room_.pod_changed(before, after));
  metrics_.pod_changed(before, after);
  const Urgency how_soon = urgency(before, after);
  if (before != nullptr) wake_owner(*before, how_soon);
  if (after == nullptr) return;
  if (before == nullptr || before->owner_uid != after->owner_uid) wake_owner(*after, how_soon);
  if (after->owner_uid.empty() && how_soon == Urgency::kNow) wake_selecting_jobs(*after);
  let_go_if_orphan(*after);
}

void Controller::index_pod(const Pod* before, const Pod* after) {
  if (is_unready(before) && --unready_[before->owner_uid] == 0) unready_.erase(before->owner_uid);
  if (is_unready(after)) ++unready_[after->owner_uid];
  if (before != nullptr && before->owner_uid.empty()) {
    auto& pods = uncontrolled_[before->ref.ns];
    pods.erase(before->ref.name);
    if (pods.empty()) uncontrolled_.erase(before->ref.ns);
  }
  if (after != nullptr && after->owner_uid.empty())
    uncontrolled_[after->ref.ns][after->ref.name] = after;
}

void Controller::wake_owner(const Pod& pod, Urgency urgency) {
  if (!pod.owned_by_job || urgency == Urgency::kNone) return;
  const QueueKey key{pod.ref.ns, pod.owner_name};
  if (urgency == Urgency::kNow || !unready_.contains(pod.owner_uid)) {
    jobs_runner_.add(key);
  } else {
    jobs_runner_.add_after(key, kBatch);
  }
}

// It may be adopted by any Job that it matches.
void Controller::wake_selecting_jobs(const Pod& pod) {
  for (const Job* job : jobs_.in_namespace(pod.ref.ns)) {
    if (job->selects(pod.labels)) jobs_runner_.add(key_of(job->ref));
  }
}

void Controller::let_go_if_orphan(const Pod& pod) {
  if (!is_orphan(pod, owner_of(pod))) return;
  // The collector deletes it, or takes the reference away: either brings it here again. Letting it
  // go before that would be a third write for each pod of a Job that is deleted.
  if (!pod.deleting && going_ != nullptr && going_->leaves_garbage(pod.owner_uid)) return;
  orphans_runner_.add(key_of(pod.ref));
}

const Job* Controller::owner_of(const Pod& pod) const {
  const Job* job = pod.owned_by_job ? jobs_.find(pod.ref.ns, pod.owner_name) : nullptr;
  return job != nullptr && job->ref.uid == pod.owner_uid ? job : nullptr;
}

std::vector<const Pod*> Controller::uncontrolled(const std::string& ns) const {
  std::vector<const Pod*> pods;
  if (const auto at = uncontrolled_.find(ns); at != uncontrolled_.end()) {
    for (const auto& [name, pod] : at->second) pods.push_back(pod);
  }
  return pods;
}

Plan Controller::plan_job(const QueueKey& key, const Pass& pass) {
  planned_.erase(key);
  const Job* job = jobs_.find(key.ns, key.name);
  if (job == nullptr) {
    room_.forget(key);
    return {};
  }
  const auto controlled = pods_.owned_by(job->ref.ns, job->ref.uid);
  const Known known{.jobs = jobs_.informer().position(), .pods = pods_.informer().position()};
  if (lags_behind(*job, controlled, known)) {
    Plan plan;
    plan.look_again = kCatchUp;
    return plan;
  }
  const auto loose = uncontrolled(key.ns);
  BackoffRecord& backoff = backoff_[job->ref.uid];
  room_.look(key);
  Outcome outcome = plan(kinds_, {.job = *job,
                                  .controlled = controlled,
                                  .uncontrolled = loose,
                                  .backoff = backoff,
                                  .births = room_.limit_for(*job),
                                  .goes_with_owner = goes_with_owner(*job),
                                  .failures = pass.failures,
                                  .now = pass.now});
  backoff = std::move(outcome.backoff);
  wake(
      room_.planned(*job, static_cast<std::size_t>(outcome.tally.pods_created), outcome.held_back));
  if (job->is_finished() || job->is_managed_elsewhere()) {
    backoff_.erase(job->ref.uid);
  } else {
    planned_[key] = {std::move(outcome.tally), pass.now};
  }
  return std::move(outcome.plan);
}

Plan Controller::plan_pod(const QueueKey& key) const {
  const Pod* pod = pods_.find(key.ns, key.name);
  if (pod == nullptr) return {};
  const Job* owner = owner_of(*pod);
  // A Job is older than its pods: if it was not seen to go, it is gone only if the cache of Jobs
  // has come as far as the pod.
  const bool seen_to_go = going_ != nullptr && going_->is_gone(pod->owner_uid);
  const bool unsure = owner == nullptr && !seen_to_go &&
                      jobs_.informer().position() < client::to_revision(pod->ref.resource_version);
  if (unsure && is_orphan(*pod, owner)) {
    Plan plan;
    plan.look_again = kCatchUp;
    return plan;
  }
  return plan_orphan(kinds_, *pod, owner);
}

void Controller::carried_out(const QueueKey& key) {
  const auto planned = planned_.extract(key);
  const Job* job = jobs_.find(key.ns, key.name);
  if (planned.empty() || job == nullptr) return;
  metrics_.add(*job, planned.mapped().tally, clock_.now() - planned.mapped().since);
}

}  // namespace muster::controllers::job
