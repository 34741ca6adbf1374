#include "controllers/jobset/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "api/views/job_set_names.h"
#include "controllers/jobset/failure_policy.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/names.h"
#include "controllers/jobset/restart_backoff.h"
#include "controllers/jobset/sequence.h"
#include "controllers/jobset/status_draft.h"
#include "controllers/jobset/success_policy.h"
#include "controllers/jobset/tally.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

// The Jobs of a set often change together. What follows from them is done at once; only the numbers
// that people look at are gathered.
constexpr Duration kCountsMayWait = std::chrono::milliseconds(250);

// Between two looks of a set that waits until others leave it room.
constexpr Duration kLookForRoom = std::chrono::seconds(1);

// The condition that says that, and when, the set ended.
const api::Condition* end_of(const api::JobSet& set) {
  for (const api::Condition& condition : set.status.conditions) {
    if ((condition.type == "Completed" || condition.type == "Failed") && condition.is_true)
      return &condition;
  }
  return nullptr;
}

bool is_ours(const api::JobSet& set) {
  return set.managed_by.empty() || set.managed_by == kManager;
}

// Of the whole set and of single Jobs.
std::int64_t all_restarts(const api::JobSetStatus& status) {
  std::int64_t sum = status.restarts;
  for (const api::ReplicatedJobStatus& job : status.replicated_jobs)
    for (const std::int32_t restarts : job.job_restarts) sum += restarts;
  return sum;
}

class Planner {
 public:
  Planner(const Kinds& kinds, const View& view, Time now)
      : kinds_(kinds),
        view_(view),
        set_(view.set),
        now_(now),
        execution_{.attempt = barrier_attempt(view.set, view.signal, view.children),
                   .barrier = view.barrier_program},
        draft_(view.set, now) {}

  // The order is the specification's (3.2), and clients see it: what is deleted before what is
  // created, failure before success, the status last.
  Status run() {
    MUSTER_TRY(buckets_, sort_into_buckets(set_, view_.children, view_.gates, execution_.attempt));
    tallies_ = tally(set_, buckets_, view_.gates);
    draft_.edit().replicated_jobs = stored_statuses(tallies_);
    if (end_of(set_) != nullptr) {
      add(delete_running(kinds_, buckets_.active), "it is over, and jobs still run");
      MUSTER_CHECK(expire());
    } else {
      MUSTER_CHECK(advance());
    }
    write_status();
    return {};
  }

  // Foreign managers leave only this to us.
  Status expire() {
    const api::Condition* const end = end_of(set_);
    if (end == nullptr || !set_.ttl_seconds_after_finished) return {};
    if (!end->last_transition_time) {
      return fail(Code::kInternal,
                  fmt::format("unable to find the time when the JobSet {}/{} finished",
                              set_.meta.ns, set_.meta.name));
    }
    const Time due =
        *end->last_transition_time + std::chrono::seconds(*set_.ttl_seconds_after_finished);
    if (now_ < due) {
      plan_.look_again = due - now_;
      return {};
    }
    plan_.then({.operation = remove(*kinds_.job_set, ref_of(set_), Propagation::kForeground)});
    because("it is over, and so is its time to live");
    expired_ = true;
    return {};
  }

  Outcome take(const Status& status) {
    if (!status) {
      plan_.error = status.error().message;
      return {.plan = std::move(plan_), .status = set_.status};
    }
    if (port_request_) return {.plan = {}, .status = set_.status, .port_request = port_request_};
    if (plan_.has_writes()) plan_.events = draft_.take_events();
    return {.plan = std::move(plan_), .status = draft_.status()};
  }

 private:
  Status advance() {
    add(delete_previous(kinds_, buckets_.previous), "jobs of an attempt before are left");
    if (!set_.suspend && all_ready(set_, draft_.status())) {
      draft_.set_condition({.type = "RestartingJobSet",
                            .is_true = false,
                            .reason = "JobsReady",
                            .message = "all jobs are ready"});
    }
    if (!buckets_.failed.empty()) {
      because("a job failed");
      MUSTER_CHECK(apply_failure_policy(set_, buckets_.failed, view_.gates, draft_));
      record_restart();
      return {};
    }
    if (!buckets_.successful.empty() && success_policy_met(set_.success_policy, tallies_)) {
      because("enough jobs succeeded");
      complete_job_set(draft_);
      return {};
    }
    if (has_hostnames(set_) && !view_.has_service) {
      add(create_service(kinds_, set_), "the headless service is missing");
    }
    add(create_claims(kinds_, set_, view_.claims), "volume claims are missing");
    if (has_barrier(set_, view_.gates) && view_.signal == nullptr) {
      add(create_barrier(kinds_, set_, execution_.attempt - set_.status.restarts),
          "the barrier is missing");
    }
    if (must_tell_coordinator_ended()) {
      add(tell_coordinator_ended(kinds_, *view_.signal, execution_.attempt),
          "pods wait for the name of a coordinator that has ended");
    }
    if (view_.gates.elastic_job_set) {
      add(scale_jobs(kinds_, set_, buckets_.active), "jobs have another size than they should");
    }
    create_jobs();
    set_.suspend || missed_suspension() ? suspend() : resume();
    return {};
  }

  // A template changes only while the set is suspended. Who suspends a set, changes it and resumes
  // it may be done before we look: if Jobs run by what was said before, the suspension is made up
  // for, and ends with the next pass.
  bool missed_suspension() const {
    if (set_.meta.generation <= 1) return false;  // nothing has ever changed
    return std::ranges::any_of(tallies_, [this](const Tally& tally) {
      const api::ReplicatedJob& entry = *tally.replicated_job;
      const auto runs_by_digest = [&](const Child* job) {
        return !job->suspend && job->replicated_job == entry.name && !job->template_digest.empty();
      };
      std::optional<std::string> wanted;
      return std::ranges::any_of(buckets_.active, [&](const Child* job) {
        if (!runs_by_digest(job)) return false;
        if (!wanted) wanted = template_digest(entry);
        return job->template_digest != *wanted;
      });
    });
  }

  void record_restart() {
    if (all_restarts(draft_.status()) == all_restarts(set_.status) ||
        !has_backoff(set_, view_.gates.restart_backoff))
      return;
    const Restart restart = restart_after(latest_restart(set_.status.conditions), now_);
    draft_.set_or_remove(kRestartedCondition, condition_of(restart));
  }

  // The restart that waits now, as the status that is being made has it.
  std::optional<Restart> waiting_restart() const {
    if (set_.suspend || !has_backoff(set_, view_.gates.restart_backoff)) return std::nullopt;
    const auto latest = latest_restart(draft_.status().conditions);
    return latest && remaining_wait(*latest, now_) > Duration::zero() ? latest : std::nullopt;
  }

  // One replicated job after the other. While the set is suspended there is no order: all Jobs are
  // made, and none runs.
  void create_jobs() {
    if (const auto restart = waiting_restart()) {
      plan_.look_again = remaining_wait(*restart, now_);
      return;
    }
    const bool in_order = set_.in_order && !set_.suspend;
    for (const Tally& tally : tallies_) {
      if (!dependencies_reached(*tally.replicated_job, tallies_)) continue;
      if (in_order && tally.is_started()) continue;
      create_missing(tally);
      if (in_order) return startup_in_progress();
    }
    if (in_order) {
      draft_.set_condition({.type = "StartupPolicyCompleted",
                            .reason = "InOrderStartupPolicyCompleted",
                            .message = "in order startup policy has completed"});
    }
  }

  void startup_in_progress() {
    draft_.set_condition({.type = "StartupPolicyInProgress",
                          .reason = "InOrderStartupPolicyInProgress",
                          .message = "in order startup policy is in progress"});
  }

  // A name that any Job still has, of whatever attempt, is not free.
  void create_missing(const Tally& tally) {
    const bool blocking = set_.failure_policy && set_.failure_policy->restart_strategy ==
                                                     api::RestartStrategy::kBlockingRecreate;
    if (blocking && !buckets_.previous.empty()) return;
    const api::ReplicatedJob& entry = *tally.replicated_job;
    std::optional<JobBuilder> builder;  // reads the template: only if there is something to build
    Step step;
    for (std::int32_t index = 0; index < entry.replicas; ++index) {
      std::string name = job_name(set_, entry.name, index);
      if (is_taken(name)) continue;
      if (step.writes.size() == room_) {
        hold_back(entry);
        break;
      }
      if (!knows_port()) return;
      if (!builder) builder.emplace(set_, entry, view_.gates, execution_);
      step.writes.push_back(creation(std::move(name), builder->build(index)));
    }
    if (step.writes.empty()) return;
    room_ -= step.writes.size();
    if (tally.present == 0 && !set_.suspend) announce(entry, step.writes.front());
    step.when_refused = Event{
        .regarding = ref_of(set_), .warning = true, .reason = "JobCreationFailed", .message = "{}"};
    add(std::move(step), "jobs are missing");
  }

  // There are more Jobs to create than this pass may. The next one goes on, unless the limit says
  // that those which are there have to start first.
  void hold_back(const api::ReplicatedJob& entry) {
    if (view_.creation.room >= kMostJobsPerPass || held_back_ != nullptr) return;
    held_back_ = &entry;
    if (view_.creation.of_all) plan_.look_again = kLookForRoom;
  }

  // Only a plan that makes Jobs needs a port. All Jobs of an attempt have the same one. False if it
  // has to be found first.
  bool knows_port() {
    if (execution_.master_port != 0 || !set_.meta.annotation(annotation::kRankEnvironment))
      return true;
    const PortRequest request{.set_uid = set_.meta.uid, .attempt = execution_.attempt};
    if (const auto known = master_port_of(buckets_.active)) {
      execution_.master_port = *known;
    } else if (!view_.shares_ports) {
      execution_.master_port = choose_master_port(request.set_uid, request.attempt, {});
    } else if (view_.given_port && view_.given_port->request == request) {
      execution_.master_port = view_.given_port->port;
    } else {
      port_request_ = request;
    }
    return execution_.master_port != 0;
  }

  Write creation(std::string name, std::string body) const {
    std::string refusal = fmt::format("job \"{}\" creation failed with error: {{}}", name);
    return {.operation = {.verb = client::Verb::kCreate,
                          .resource = kinds_.job,
                          .ns = set_.meta.ns,
                          .name = std::move(name),
                          .body = std::move(body)},
            .refusal = std::move(refusal)};
  }

  bool is_taken(const std::string& name) {
    if (names_.empty()) {
      names_.reserve(view_.children.size());
      for (const Child* child : view_.children) names_.insert(child->name);
    }
    return names_.contains(name);
  }

  // With the first write of a stage, so that a refusal of the others does not keep it back.
  void announce(const api::ReplicatedJob& entry, Write& first) const {
    if (!is_sequenced(set_)) return;
    first.when_done = Event{.regarding = ref_of(set_),
                            .reason = std::string(kStageStarted),
                            .message = stage_started(entry)};
  }

  void suspend() {
    constexpr std::string_view kMessage = "jobset is suspended";
    // First: Jobs that ran past an open barrier must never be resumed.
    if (is_open()) add(renew_barrier(kinds_, *view_.signal), "it is suspended, and was started");
    add(suspend_jobs(kinds_, buckets_.active), "it is suspended, and jobs run");
    draft_.set_condition({.type = "Suspended", .reason = "SuspendedJobs", .message = kMessage});
    draft_.set_condition({.type = "RestartingJobSet",
                          .is_true = false,
                          .reason = "JobSetSuspended",
                          .message = kMessage});
  }

  // In order, the set counts as suspended until the last replicated job has started.
  void resume() {
    for (const Tally& tally : tallies_) {
      if (!dependencies_reached(*tally.replicated_job, tallies_)) continue;
      if (set_.in_order && tally.is_started()) continue;
      if (tally.status.suspended > 0) resume_jobs(tally);
      if (set_.in_order) return startup_in_progress();
    }
    draft_.set_condition({.type = "Suspended",
                          .is_true = false,
                          .reason = "ResumeJobs",
                          .message = "jobset is resumed"});
  }

  void resume_jobs(const Tally& tally) {
    if (!knows_port()) return;
    const api::ReplicatedJob& entry = *tally.replicated_job;
    const JobBuilder builder(set_, entry, view_.gates, execution_);
    Step forget_start, resumed;
    Arena arena;
    const Value no_start = Value::object(arena);
    no_start.object_at("status").set("startTime", Value());
    for (const Child* job : buckets_.active) {
      if (!job->suspend || job->replicated_job != entry.name) continue;
      // Kubernetes lets nobody change the template of a Job that has started.
      if (job->has_start_time) {
        forget_start.writes.push_back(
            {.operation = patch(*kinds_.job, job->ref(), no_start, "status")});
      }
      resumed.writes.push_back(
          {.operation = patch(*kinds_.job, job->ref(), builder.resume_patch(arena, *job))});
    }
    const std::int32_t unfinished = tally.present - tally.status.succeeded - tally.status.failed;
    if (tally.status.suspended == unfinished) announce(entry, resumed.writes.front());
    add(std::move(forget_start), "it is resumed, and jobs stand still");
    add(std::move(resumed), "it is resumed, and jobs stand still");
  }

  bool is_open() const {
    return has_barrier(set_, view_.gates) && view_.signal != nullptr &&
           view_.signal->is_open(execution_.attempt);
  }

  bool must_tell_coordinator_ended() const {
    return has_barrier(set_, view_.gates) && !set_.suspend && waits_for_name(set_) &&
           view_.signal != nullptr &&
           !view_.signal->data.contains(coordinator_key(execution_.attempt)) &&
           coordinator_ended(set_, view_.children);
  }

  // What is held up at the barrier, until the last main process runs; empty if nothing is.
  std::string held_at_barrier() const {
    if (!has_barrier(set_, view_.gates) || set_.suspend) return {};
    const std::int64_t size = barrier_size(set_);
    if (is_open()) {
      const std::int64_t held = held_pods(execution_.attempt, view_.starts);
      if (held == 0) return {};
      const std::string name =
          waits_for_name(set_) ? fmt::format("; they need the name {}", coordinator_endpoint(set_))
                               : "";
      return fmt::format("barrier: open, {} of {} do not run yet{}", held, size, name);
    }
    const bool holds_some = std::ranges::any_of(
        buckets_.active, [](const Child* job) { return job->barrier_attempt.has_value(); });
    if (!holds_some) return {};
    return fmt::format("barrier: {} of {} started",
                       started_pods(set_, execution_.attempt, view_.children, view_.starts), size);
  }

  // A restart that waits before all, then the barrier: others may wait for what is held up there.
  std::optional<api::Condition> waiting_now() const {
    api::Condition condition;
    if (const auto restart = waiting_restart()) {
      condition.reason = "RestartBackoff";
      condition.message =
          fmt::format("restart {} waits {} s, until {}", all_restarts(draft_.status()),
                      restart->wait.count(), format_time(restart->at + restart->wait));
      return condition;
    }
    auto wait = waiting(set_, tallies_);
    if (!wait && held_back_ != nullptr) wait = waiting_for_room();
    if (!wait) wait = waiting_for_pods();
    std::string held = held_at_barrier();
    if (held.empty()) return wait;
    condition.reason = "Barrier";
    condition.message = std::move(held);
    if (wait) condition.message += "; " + wait->message;
    return condition;
  }

  // Without numbers that change all the time: each change would be a write.
  api::Condition waiting_for_room() const {
    api::Condition condition;
    condition.reason = "JobLimit";
    condition.message = fmt::format(
        "{} has more jobs than are created ahead of those that run: at most {} {} wait to start",
        held_back_->name, view_.creation.limit,
        view_.creation.of_all ? "of all JobSets" : "of a JobSet");
    return condition;
  }

  // The first Job that says so stands for all.
  std::optional<api::Condition> waiting_for_pods() const {
    const auto held = std::ranges::find_if(
        buckets_.active, [](const Child* job) { return !job->held_back.empty(); });
    if (held == buckets_.active.end()) return std::nullopt;
    api::Condition condition;
    condition.reason = "PodLimit";
    condition.message = fmt::format("{}: {}", (*held)->name, (*held)->held_back);
    return condition;
  }

  // Once per pass, and only if something changed. Bound to the version that it was computed from.
  void write_status() {
    if (expired_) return;
    const bool over = !draft_.status().terminal_state.empty() || end_of(set_) != nullptr;
    draft_.set_or_remove(api::kWaitingCondition, over ? std::nullopt : waiting_now());
    if (over) draft_.set_or_remove(kRestartedCondition, std::nullopt);
    if (!draft_.is_changed()) return;
    if (!plan_.has_writes() && draft_.only_counts_changed()) plan_.may_wait = kCountsMayWait;
    Arena arena;
    plan_.then({.operation = patch(*kinds_.job_set, ref_of(set_),
                                   status_patch(arena, set_.status, draft_.status()), "status")});
    because("the jobs' states changed");
  }

  void add(Step step, std::string_view reason) {
    if (step.writes.empty()) return;
    plan_.steps.push_back(std::move(step));
    because(reason);
  }
  void because(std::string_view reason) {
    if (plan_.reason.empty()) plan_.reason = reason;
  }

  const Kinds& kinds_;
  const View& view_;
  const api::JobSet& set_;
  Time now_;
  Execution execution_;
  Buckets buckets_;
  Tallies tallies_;
  StatusDraft draft_;
  Plan plan_;
  bool expired_ = false;
  std::optional<PortRequest> port_request_;
  std::size_t room_ = std::min(kMostJobsPerPass, view_.creation.room);  // for Jobs yet to create
  const api::ReplicatedJob* held_back_ = nullptr;  // the first that the limit keeps from growing
  std::unordered_set<std::string_view> names_;     // of all children; only looked up, never walked
};

}  // namespace

Outcome plan(const Kinds& kinds, const View& view, Time now) {
  if (view.set.meta.deletion_time) return {.plan = {}, .status = view.set.status};
  Planner planner(kinds, view, now);
  const Status status = is_ours(view.set) ? planner.run() : planner.expire();
  return planner.take(status);
}

}  // namespace muster::controllers::jobset
