#include "story/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/views/job_set_names.h"
#include "base/terminal_text.h"

namespace muster::story {
namespace {

constexpr Duration kStandstill = std::chrono::seconds(3);
// Those of objects that are missing end at once when they come; the others are tried again by the
// agent every ten seconds, and may be over then.
constexpr std::array<std::pair<std::string_view, Duration>, 6> kFaults = {
    {{"CreateContainerConfigError", std::chrono::seconds(5)},
     {"ErrImageNeverPull", std::chrono::seconds(5)},
     {"ImageInspectError", std::chrono::seconds(25)},
     {"FailedMount", std::chrono::seconds(5)},
     {"CreateContainerError", std::chrono::seconds(25)},
     {"FailedCreatePodSandBox", std::chrono::seconds(25)}}};

const api::ReplicatedJobStatus* status_of(const api::JobSet& set, std::string_view name) {
  for (const auto& status : set.status.replicated_jobs) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

std::string dependencies(const api::JobSet& set, const api::ReplicatedJob& entry) {
  std::vector<std::string> texts;
  if (set.in_order && &entry != &set.replicated_jobs.front())
    texts.push_back(fmt::format("{} to be Ready", plain_text((&entry - 1)->name)));
  for (const auto& dependency : entry.depends_on) {
    texts.push_back(
        fmt::format("{} to be {}", plain_text(dependency.name),
                    dependency.status == api::DependencyStatus::kReady ? "Ready" : "Complete"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

StageState state_by_jobs(const Stage& stage, const api::ReplicatedJobStatus* status,
                         bool suspended) {
  if (status == nullptr) return suspended ? StageState::kSuspended : StageState::kWaiting;
  if (status->failed > 0) return StageState::kFailed;
  if (stage.jobs > 0 && status->succeeded >= stage.jobs) return StageState::kDone;
  if (suspended || status->suspended > 0) return StageState::kSuspended;
  if (stage.jobs_ready >= stage.jobs) return StageState::kRunning;
  return status->active > 0 || status->ready > 0 ? StageState::kStarting : StageState::kWaiting;
}

void count_pods(Stage& stage, const PodList& pods, const std::string& attempt) {
  bool all_ended = true, any = false;
  for (const PodFacts* const each : pods) {
    const PodFacts& pod = *each;
    if (pod.stage != stage.name || (!pod.attempt.empty() && pod.attempt != attempt)) continue;
    any = true;
    all_ended &= pod.has_ended();
    if (pod.phase == "Succeeded") {
      ++stage.pods_finished;
    } else if (pod.ready) {
      ++stage.pods_ready;
    }
    if (pod.started && (!stage.started || *pod.started < *stage.started))
      stage.started = pod.started;
    if (pod.finished && (!stage.finished || *pod.finished > *stage.finished))
      stage.finished = pod.finished;
  }
  if (!any || !all_ended) stage.finished.reset();
  stage.pods_finished = std::min(stage.pods_finished, stage.pods);
  stage.pods_ready = std::min(stage.pods_ready, stage.pods - stage.pods_finished);
  // Pods are known before the status that counts them.
  if (any && stage.state == StageState::kWaiting) stage.state = StageState::kStarting;
  if (stage.state == StageState::kStarting && stage.pods > 0 && stage.pods_there() == stage.pods)
    stage.state = StageState::kRunning;
  // A Job counts pods that have come and gone.
  if (stage.state == StageState::kRunning && any && stage.pods_there() == 0)
    stage.state = StageState::kStarting;
}

Stage stage_of(const api::JobSet& set, const api::ReplicatedJob& entry, const PodList& pods) {
  Stage stage{.name = entry.name,
              .jobs = entry.replicas,
              .pods = entry.pods(),
              .waits_for = dependencies(set, entry),
              .started = {},
              .finished = {},
              .never_because = {}};
  const api::ReplicatedJobStatus* const status = status_of(set, entry.name);
  if (status != nullptr)
    stage.jobs_ready = std::min<std::int64_t>(status->ready + status->succeeded, stage.jobs);
  stage.state = state_by_jobs(stage, status, set.suspend);
  count_pods(stage, pods, std::to_string(set.status.restarts));
  if (stage.state == StageState::kDone) {
    stage.pods_finished = stage.pods;
    stage.pods_ready = 0;
  }
  return stage;
}

std::optional<Outcome> outcome_of(const api::JobSet& set) {
  for (const std::string_view type : {"Completed", "Failed"}) {
    const api::Condition* const condition = api::find_condition(set.status.conditions, type);
    if (condition != nullptr && condition->is_true)
      return Outcome{type == "Completed", condition->reason, condition->message};
  }
  return std::nullopt;
}

std::string word_for_all(const Standing& standing) {
  if (standing.outcome) return standing.outcome->succeeded ? "Completed" : "Failed";
  if (standing.suspended) return "Suspended";
  const auto is = [](StageState state) {
    return [state](const Stage& stage) { return stage.state == state; };
  };
  if (std::ranges::any_of(standing.stages, is(StageState::kRunning))) return "Running";
  const bool starting = std::ranges::any_of(standing.stages, is(StageState::kStarting));
  if (standing.restarts > 0 && starting) return "Restarting";
  if (starting) return "Starting";
  return standing.waiting.empty() ? "Pending" : "Waiting";
}

}  // namespace

std::string_view word_for(StageState state) {
  switch (state) {
    case StageState::kSuspended:
      return "suspended";
    case StageState::kWaiting:
      return "waiting";
    case StageState::kStarting:
      return "starting";
    case StageState::kRunning:
      return "running";
    case StageState::kDone:
      return "done";
    case StageState::kFailed:
      return "failed";
    case StageState::kStopped:
      return "stopped";
    case StageState::kNeverStarted:
      return "never started";
  }
  return "";
}

std::string Standing::current() const {
  std::vector<std::string_view> names;
  for (const Stage& stage : stages) {
    if (stage.state == StageState::kStarting || stage.state == StageState::kRunning)
      names.push_back(stage.name);
  }
  return names.empty() || outcome ? "-" : fmt::format("{}", fmt::join(names, ","));
}

Standing standing_of(const api::JobSet& set, const PodList& pods) {
  Standing standing;
  standing.name = set.meta.name;
  standing.restarts = set.status.restarts;
  if (set.failure_policy) standing.max_restarts = set.failure_policy->max_restarts;
  standing.suspended = set.suspend;
  standing.created = set.meta.creation_time;
  if (const auto* waiting = api::find_condition(set.status.conditions, api::kWaitingCondition);
      waiting != nullptr && waiting->is_true) {
    standing.waiting = waiting->message;
  }
  standing.outcome = outcome_of(set);
  for (const auto& entry : set.replicated_jobs) {
    standing.stages.push_back(stage_of(set, entry, pods));
    // At the end what still ran was stopped, and what had not started never will.
    StageState& state = standing.stages.back().state;
    if (standing.outcome && state != StageState::kDone && state != StageState::kFailed)
      state = StageState::kStopped;
  }
  standing.state = word_for_all(standing);
  return standing;
}

void mark_unstarted(Standing& standing, const std::set<std::string, std::less<>>& seen) {
  const auto failed = std::ranges::find(standing.stages, StageState::kFailed, &Stage::state);
  for (Stage& stage : standing.stages) {
    if (stage.state != StageState::kStopped || seen.contains(stage.name)) continue;
    stage.state = StageState::kNeverStarted;
    if (failed != standing.stages.end())
      stage.never_because = fmt::format("{} failed", plain_text(failed->name));
  }
}

std::optional<DeadEnd> dead_end(const PodList& pods) {
  const PodFacts* unplaced = nullptr;
  bool something_runs = false;
  for (const PodFacts* const each : pods) {
    const PodFacts& pod = *each;
    if (pod.has_ended()) continue;
    for (const auto& [reason, grace] : kFaults) {
      if (pod.trouble_reason != reason) continue;
      return DeadEnd{
          pod.name,
          fmt::format("pod {} cannot start: {}", plain_text(pod.name), plain_text(pod.trouble)),
          grace};
    }
    something_runs |= pod.unschedulable.empty() && !pod.at_barrier;
    if (!pod.unschedulable.empty() && unplaced == nullptr) unplaced = &pod;
  }
  if (unplaced == nullptr || something_runs) return std::nullopt;
  const std::string brief = fmt::format("pod {} cannot be placed", plain_text(unplaced->name));
  return DeadEnd{unplaced->name, fmt::format("{}: {}", brief, plain_text(unplaced->unschedulable)),
                 kStandstill, brief};
}

}  // namespace muster::story
