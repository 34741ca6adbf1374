#include "controllers/jobset/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace muster::controllers::jobset {
namespace {

using api::Dependency;
using api::DependencyStatus;

std::string_view name_of(DependencyStatus status) {
  return status == DependencyStatus::kComplete ? "Complete" : "Ready";
}

bool is_reached(const Dependency& dependency, const Tallies& tallies) {
  const Tally* const target = find_tally(tallies, dependency.name);
  if (target == nullptr) return false;
  return dependency.status == DependencyStatus::kComplete ? target->is_complete()
                                                          : target->is_started();
}

// "launcher to be Ready: 0 of 1"
std::string still_missing(const Dependency& dependency, const Tallies& tallies) {
  const Tally* const target = find_tally(tallies, dependency.name);
  if (target == nullptr) return dependency.name + ", which there is not";
  const bool complete = dependency.status == DependencyStatus::kComplete;
  return fmt::format("{} to be {}: {} of {}", dependency.name, name_of(dependency.status),
                     complete ? target->status.succeeded : target->started_jobs(),
                     target->replicated_job->replicas);
}

// Some of its Jobs are not there yet, or stand still.
bool has_jobs_to_start(const Tally& tally) {
  return tally.present < tally.replicated_job->replicas || tally.status.suspended > 0;
}

std::vector<std::string> waiting_for_dependencies(const Tallies& tallies) {
  std::vector<std::string> out;
  for (const Tally& tally : tallies) {
    if (!has_jobs_to_start(tally)) continue;
    std::vector<std::string> missing;
    for (const Dependency& dependency : tally.replicated_job->depends_on) {
      if (!is_reached(dependency, tallies)) missing.push_back(still_missing(dependency, tallies));
    }
    if (missing.empty()) continue;
    out.push_back(fmt::format("{} waits for {}", tally.replicated_job->name,
                              fmt::join(missing, " and for ")));
  }
  return out;
}

std::vector<std::string> waiting_for_their_turn(const Tallies& tallies) {
  std::vector<std::string> out;
  const auto starting =
      std::ranges::find_if(tallies, [](const Tally& tally) { return !tally.is_started(); });
  if (starting == tallies.end()) return out;
  const Dependency order{.name = starting->replicated_job->name};
  for (auto later = starting + 1; later != tallies.end(); ++later) {
    if (!has_jobs_to_start(*later)) continue;
    out.push_back(
        fmt::format("{} waits for {}", later->replicated_job->name, still_missing(order, tallies)));
  }
  return out;
}

// A message is for people: a long list ends in a number.
std::string joined(const std::vector<std::string>& waits) {
  constexpr std::size_t kMost = 8;
  const std::size_t shown = std::min(waits.size(), kMost);
  std::string out =
      fmt::format("{}", fmt::join(waits.begin(), waits.begin() + std::ptrdiff_t(shown), "; "));
  if (waits.size() > shown) out += fmt::format("; {} more wait", waits.size() - shown);
  return out;
}

}  // namespace

bool dependencies_reached(const api::ReplicatedJob& replicated_job, const Tallies& tallies) {
  return std::ranges::all_of(replicated_job.depends_on, [&](const Dependency& dependency) {
    return is_reached(dependency, tallies);
  });
}

bool is_sequenced(const api::JobSet& set) {
  return set.in_order ||
         std::ranges::any_of(set.replicated_jobs, [](const api::ReplicatedJob& entry) {
           return !entry.depends_on.empty();
         });
}

std::optional<api::Condition> waiting(const api::JobSet& set, const Tallies& tallies) {
  if (set.suspend) return std::nullopt;
  const std::vector<std::string> waits =
      set.in_order ? waiting_for_their_turn(tallies) : waiting_for_dependencies(tallies);
  if (waits.empty()) return std::nullopt;
  api::Condition condition;
  condition.reason = set.in_order ? "StartupOrder" : "Dependency";
  condition.message = joined(waits);
  return condition;
}

std::string stage_started(const api::ReplicatedJob& replicated_job) {
  const std::int32_t jobs = replicated_job.replicas;
  std::string out =
      fmt::format("started {}: {} job{}", replicated_job.name, jobs, jobs == 1 ? "" : "s");
  for (const Dependency& dependency : replicated_job.depends_on) {
    out += fmt::format(", {} is {}", dependency.name, name_of(dependency.status));
  }
  return out;
}

}  // namespace muster::controllers::jobset
