#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "base/number.h"
#include "controllers/jobset/barrier.h"
#include "controllers/jobset/names.h"
#include "json/parse.h"

namespace muster::sim {
namespace {

using api::annotation::kBarrier;

namespace label = api::label;

std::string label_of(const api::Meta& meta, std::string_view key) {
  return std::string(meta.label(key).value_or(""));
}

std::int32_t attempt_of(const api::Meta& meta) {
  return parse_number<std::int32_t>(label_of(meta, label::kRestartAttempt)).value_or(-1);
}

// As the JobSet controller counts it: everything that will run has started, or has ended.
bool is_started(const api::Job& job) {
  const std::int32_t expected =
      job.completions ? std::min(job.parallelism, *job.completions) : job.parallelism;
  return job.is_finished() || job.succeeded + job.ready >= expected;
}

}  // namespace

void Invariants::violated(const store::Event& event, std::string what) {
  violations_.push_back(
      fmt::format("revision {}, {}: {}", event.revision, event.object->path(), what));
}

void Invariants::took(const store::Event& event) {
  json::Arena arena;
  const auto object = json::parse(arena, event.object->bytes());
  MUSTER_ASSERT(object.has_value(), "stored objects are sound");
  const std::string_view kind = object->get("kind").as_string();
  if (kind == "JobSet") took_job_set(event, *object);
  if (kind == "Job") took_job(event, *object);
  if (kind == "Pod") took_pod(event, *object);
}

void Invariants::took_job_set(const store::Event& event, json::Value object) {
  api::JobSet set = api::read_job_set(object);
  if (event.type == store::Event::Type::kDeleted) {
    sets_.erase(set.meta.uid);
    return;
  }
  if (const auto at = sets_.find(set.meta.uid); at != sets_.end()) {
    const api::JobSetStatus& before = at->second.status;
    for (const std::string_view type : {"Completed", "Failed"}) {
      if (api::is_condition_true(before.conditions, type) &&
          !api::is_condition_true(set.status.conditions, type)) {
        violated(event, fmt::format("was {} and is no longer", type));
      }
    }
    if (set.status.restarts < before.restarts) violated(event, "restarts went back");
    if (set.status.restarts > before.restarts + 1) violated(event, "restarts skipped an attempt");
  }
  const std::int32_t allowed = set.failure_policy ? set.failure_policy->max_restarts : 0;
  if (set.status.restarts_count_towards_max > allowed) {
    violated(event, fmt::format("{} counted restarts, {} are allowed",
                                set.status.restarts_count_towards_max, allowed));
  }
  sets_.insert_or_assign(set.meta.uid, std::move(set));
}

// What has ever held within an attempt: readiness that is lost later does not undo a start.
void Invariants::learn_progress(const api::JobSet& set, std::int32_t attempt) {
  for (const api::ReplicatedJob& replicated : set.replicated_jobs) {
    std::int32_t started = 0, complete = 0;
    for (const auto& [uid, job] : jobs_) {
      const auto* owner = job.meta.controller();
      if (owner == nullptr || owner->uid != set.meta.uid ||
          label_of(job.meta, label::kReplicatedJobName) != replicated.name ||
          attempt_of(job.meta) != attempt)
        continue;
      started += is_started(job) ? 1 : 0;
      complete += job.is_complete() ? 1 : 0;
    }
    const Stage stage{set.meta.uid, attempt, replicated.name};
    if (started >= replicated.replicas) was_ready_.insert(stage);
    if (complete >= replicated.replicas) was_complete_.insert(stage);
  }
}

void Invariants::check_turn(const api::JobSet& set, const api::Job& job) {
  const api::ReplicatedJob* own = set.replicated_job(label_of(job.meta, label::kReplicatedJobName));
  if (own == nullptr) return;
  const std::int32_t attempt = attempt_of(job.meta);
  for (const api::Dependency& dependency : own->depends_on) {
    const bool complete = dependency.status == api::DependencyStatus::kComplete;
    const auto& reached = complete ? was_complete_ : was_ready_;
    if (!reached.contains({set.meta.uid, attempt, dependency.name})) {
      violations_.push_back(fmt::format("job {} began before {} was {}", job.meta.name,
                                        dependency.name, complete ? "complete" : "ready"));
    }
  }
  if (!set.in_order) return;
  for (const api::ReplicatedJob& earlier : set.replicated_jobs) {
    if (earlier.name == own->name) break;
    if (!was_ready_.contains({set.meta.uid, attempt, earlier.name})) {
      violations_.push_back(
          fmt::format("job {} began before {} had started", job.meta.name, earlier.name));
    }
  }
}

void Invariants::took_job(const store::Event& event, json::Value object) {
  api::Job job = api::read_job(object);
  const auto* owner = job.meta.controller();
  const auto set = owner == nullptr ? sets_.end() : sets_.find(owner->uid);
  if (event.type == store::Event::Type::kDeleted) {
    jobs_.erase(job.meta.uid);
    return;
  }
  const auto known = jobs_.find(job.meta.uid);
  const bool was_running = known != jobs_.end() && !known->second.suspend;
  if (known != jobs_.end() && known->second.is_finished() && !job.is_finished()) {
    violated(event, "was finished and is no longer");
  }
  if (set != sets_.end() && !job.suspend && !was_running) check_turn(set->second, job);
  const std::int32_t attempt = attempt_of(job.meta);
  jobs_.insert_or_assign(job.meta.uid, std::move(job));
  if (set != sets_.end()) learn_progress(set->second, attempt);
}

// Of the set's Jobs those that still have something to do in this attempt: the others have ended in
// an earlier one, before the set was suspended.
std::int64_t Invariants::expected_at_barrier(const api::JobSet& set,
                                             std::string_view barrier) const {
  const auto& targets = set.group_scheduling->target_replicated_jobs;
  std::int64_t expected = 0;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    if (targets.empty() || std::ranges::find(targets, entry.name) != targets.end())
      expected += entry.pods();
  }
  for (const auto& [uid, job] : jobs_) {
    const auto* owner = job.meta.controller();
    if (owner == nullptr || owner->uid != set.meta.uid || !job.is_complete()) continue;
    json::Arena arena;
    const auto held =
        json::parse(arena, job.template_json)->get({"metadata", "annotations", kBarrier});
    if (held.is_string() && held.as_string() != barrier)
      expected -= set.replicated_job(label_of(job.meta, label::kReplicatedJobName))->pods_per_job();
  }
  return expected;
}

// KEP-498: no main container starts before all pods of the group have.
void Invariants::check_barrier(const store::Event& event, const api::Pod& pod) {
  const auto signal = pod.meta.annotation(kBarrier);
  const auto set = sets_.find(label_of(pod.meta, label::kJobSetUid));
  if (!signal || set == sets_.end() || event.type == store::Event::Type::kDeleted) return;
  const auto& init = pod.init_container_statuses;
  const bool runs = pod.phase == api::PodPhase::kRunning;
  const bool waits = std::ranges::any_of(init, [](const auto& each) { return each.running; });
  if (!runs && !waits) return;
  auto& reached = reached_[{set->first, std::string(*signal)}];
  reached.insert(
      {pod.meta.controller()->name, std::string(*pod.meta.label(api::kCompletionIndex))});
  const std::int64_t expected = expected_at_barrier(set->second, *signal);
  if (runs && std::int64_t(reached.size()) < expected) {
    violated(event, fmt::format("has passed the barrier {} when {} of {} pods had started", *signal,
                                reached.size(), expected));
  }
}

void Invariants::took_pod(const store::Event& event, json::Value object) {
  const api::Pod pod = api::read_pod(object);
  const auto* owner = pod.meta.controller();
  const auto index = pod.meta.label(api::kCompletionIndex);
  if (owner == nullptr || !index) return;
  check_barrier(event, pod);
  auto& live = live_pods_[{owner->uid, std::string(*index)}];
  const bool lives =
      event.type != store::Event::Type::kDeleted && !pod.is_terminal() && !pod.meta.deletion_time;
  if (!lives) {
    live.erase(pod.meta.uid);
  } else if (live.insert(pod.meta.uid).second && live.size() > 1) {
    violated(event, fmt::format("{} pods of index {} live at once", live.size(), *index));
  }
}

void Invariants::check_at_rest(const std::vector<store::ObjectPtr>& all) {
  std::set<std::string> uids;
  for (const store::ObjectPtr& object : all) uids.insert(object->meta().uid);
  for (const store::ObjectPtr& object : all) {
    const auto& owners = object->meta().owners;
    if (owners.empty() || object->meta().deletion_time) continue;
    if (std::ranges::none_of(owners, [&](const auto& owner) { return uids.contains(owner.uid); })) {
      violations_.push_back(fmt::format("{} has outlived its owner", object->path()));
    }
  }
}

}  // namespace muster::sim
