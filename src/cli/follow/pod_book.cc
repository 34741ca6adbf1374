#include "cli/follow/pod_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "story/progress.h"
#include "story/run_lines.h"

namespace muster::cli {
namespace {

constexpr Duration kPodlessGrace = std::chrono::seconds(10);  // Jobs try again
constexpr std::size_t kMaxEarlyWarnings = 10'000;

bool has_start_error(const std::optional<story::ContainerEnd>& failure) {
  return failure && failure->reason == "StartError";
}

}  // namespace

PodBook::Change PodBook::see(story::PodFacts facts) {
  KnownPod& known = pods_[facts.uid];
  const bool could_start = !has_start_error(known.facts.failure);
  stages_.insert(facts.stage);
  podless_.erase(facts.job);
  known.facts = std::move(facts);
  take_fault(known);
  tell_shortage(known);
  const bool wants_room = !known.facts.lacking.empty() && !std::exchange(wants_room_, true);
  Change change{.pod = known,
                .could_not_start = could_start && has_start_error(known.facts.failure),
                .wants_room = wants_room};
  const auto [first, last] = early_.equal_range(known.facts.uid);
  for (auto warning = first; warning != last; ++warning) change.warnings.push_back(warning->second);
  early_.erase(first, last);
  for (const story::PodWarning& warning : change.warnings) take_warning(known.facts.uid, warning);
  return change;
}

void PodBook::forget(const std::string& uid) {
  if (const auto known = pods_.find(uid); known != pods_.end()) known->second.gone = true;
}

bool PodBook::take_warning(const std::string& uid, const story::PodWarning& warning) {
  const auto known = pods_.find(uid);
  if (known == pods_.end()) {
    if (early_.size() < kMaxEarlyWarnings) early_.emplace(uid, warning);
    return false;
  }
  if (warning.kind == story::PodWarning::Kind::kFault) {
    known->second.fault_reason = warning.reason;
    known->second.fault = fmt::format("{}: {}", warning.reason, warning.message);
    take_fault(known->second);
  }
  return true;
}

bool PodBook::take_podless(const api::JobSet& set, const std::string& job, const std::string& why,
                           std::optional<Time> told) {
  const bool is_ours = std::ranges::any_of(set.replicated_jobs, [&](const auto& entry) {
    return job.starts_with(fmt::format("{}-{}-", job_set_, entry.name));
  });
  // One of the same name may have been there before.
  const bool is_past = told && set.meta.creation_time && *told < *set.meta.creation_time;
  if (!is_ours || is_past) return false;
  // Each attempt has another name for the pod: the first will do.
  podless_.try_emplace(job, story::podless_line(job, why));
  return true;
}

void PodBook::take_room(const story::Room& room) {
  room_ = room;
  for (auto& [uid, known] : pods_) tell_shortage(known);
}

// A pod that has not started has the trouble that its events tell.
void PodBook::take_fault(KnownPod& known) {
  if (known.facts.started || !known.facts.trouble.empty()) return;
  known.facts.trouble = known.fault;
  known.facts.trouble_reason = known.fault_reason;
}

// What it lacks is told in amounts.
void PodBook::tell_shortage(KnownPod& known) const {
  if (room_ && !known.facts.lacking.empty())
    known.facts.unschedulable = story::shortage(known.facts.lacking, *room_);
}

story::PodList PodBook::present() const {
  story::PodList out;
  for (const auto& [uid, known] : pods_) {
    if (!known.gone) out.add(known.facts);
  }
  out.sort_by_name();
  return out;
}

bool PodBook::has_live() const {
  return std::ranges::any_of(pods_, [](const auto& entry) { return entry.second.is_live(); });
}

std::vector<std::string> PodBook::live() const {
  std::vector<std::string> out;
  for (const auto& [uid, known] : pods_) {
    if (known.is_live()) out.push_back(known.facts.name);
  }
  return out;
}

std::string PodBook::trouble() const {
  const bool waits_for_room = wants_room_ && !room_;
  std::string out = waits_for_room ? "" : story::trouble_of(present(), job_set_);
  if (out.empty() && !podless_.empty() && !has_live()) out = podless_.begin()->second;
  return out;
}

std::optional<story::DeadEnd> PodBook::dead_end() const {
  if (podless_.empty() || has_live()) return story::dead_end(present());
  return story::DeadEnd{podless_.begin()->first, podless_.begin()->second, kPodlessGrace};
}

const story::PodFacts* PodBook::first_failure(std::int64_t attempt) const {
  const std::string wanted = std::to_string(attempt);
  story::PodList pods;
  for (const auto& [uid, known] : pods_) {
    if (known.facts.attempt == wanted) pods.add(known.facts);
  }
  return story::first_failure(pods);
}

const story::PodFacts* PodBook::first_failure() const {
  story::PodList pods;
  for (const auto& [uid, known] : pods_) pods.add(known.facts);
  return story::first_failure(pods);
}

std::optional<std::int64_t> PodBook::exit_code(std::string_view selection,
                                               std::int64_t attempt) const {
  std::optional<std::int64_t> code;
  for (const auto& [uid, known] : pods_) {
    if (!story::is_meant(known.facts, selection) || !known.facts.exit_code) continue;
    if (known.facts.attempt != std::to_string(attempt)) continue;
    if (code.value_or(0) == 0) code = known.facts.exit_code;
  }
  return code;
}

}  // namespace muster::cli
