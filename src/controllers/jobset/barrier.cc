#include "controllers/jobset/barrier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Value;

std::optional<std::int32_t> count_of(std::string_view text) {
  const auto number = parse_number<std::int32_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// Pods of one Job that have started, at most as many as the barrier waits for. A complete Job needs
// no more pods.
std::int32_t started_of(const api::JobSet& set, const api::ReplicatedJob& entry,
                        std::int32_t attempt, const Child& child, const Starts* starts) {
  const std::int32_t expected = entry.pods_per_job();
  if (child.end == Child::End::kComplete && child.restart_attempt.value == set.status.restarts)
    return expected;
  if (starts == nullptr) return 0;
  const auto found = starts->pods.find({attempt, child.name});
  return found == starts->pods.end() ? 0 : std::min(found->second, expected);
}

}  // namespace

bool has_barrier(const api::JobSet& set, const Gates& gates) {
  return gates.group_scheduling && set.group_scheduling.has_value();
}

bool is_covered(const api::JobSet& set, const api::ReplicatedJob& entry) {
  const auto& targets = set.group_scheduling->target_replicated_jobs;
  return targets.empty() || std::ranges::find(targets, entry.name) != targets.end();
}

std::int64_t barrier_size(const api::JobSet& set) {
  std::int64_t pods = 0;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    if (is_covered(set, entry)) pods += entry.pods();
  }
  return pods;
}

std::string barrier_config_map(const api::JobSet& set) {
  return fmt::format("{}-group-scheduling", set.meta.name);
}

std::string started_key(std::int32_t attempt) {
  return fmt::format("{}{}", api::kBarrierStarted, attempt);
}
std::string progress_key(std::int32_t attempt) {
  return fmt::format("{}{}", api::kBarrierProgress, attempt);
}
std::string missing_key(std::int32_t attempt) {
  return fmt::format("{}{}", api::kBarrierMissing, attempt);
}
std::string coordinator_key(std::int32_t attempt) {
  return started_key(attempt) + std::string(api::kCoordinatorEnded);
}

std::optional<std::int32_t> attempt_of_barrier(std::string_view annotation) {
  const auto slash = annotation.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view key = annotation.substr(slash + 1);
  if (!key.starts_with(api::kBarrierStarted)) return std::nullopt;
  return count_of(key.substr(api::kBarrierStarted.size()));
}

Signal read_signal(Value config_map) {
  Signal out;
  out.ref = ref_of(config_map, "v1", "ConfigMap");
  const Value metadata = config_map.get("metadata");
  for (const Value owner : metadata.get("ownerReferences").items()) {
    if (owner.get("controller").as_bool()) out.owner_uid = owner.get("uid").as_string();
  }
  out.resumes = count_of(metadata.get({"annotations", kResumes}).as_string()).value_or(0);
  for (const auto& [key, value] : config_map.get("data").members()) {
    out.data.emplace(key, value.as_string());
  }
  return out;
}

std::int32_t barrier_attempt(const api::JobSet& set, const Signal* signal,
                             std::span<const Child* const> children) {
  std::int32_t attempt = set.status.restarts + (signal == nullptr ? 0 : signal->resumes);
  for (const Child* child : children) {
    if (child->barrier_attempt) attempt = std::max(attempt, *child->barrier_attempt);
  }
  return attempt;
}

std::int64_t started_pods(const api::JobSet& set, std::int32_t attempt,
                          std::span<const Child* const> children, const Starts* starts) {
  std::int64_t started = 0;
  for (const Child* child : children) {
    if (!child->barrier_attempt || !child->replicated_job) continue;
    const api::ReplicatedJob* const entry = set.replicated_job(*child->replicated_job);
    if (entry == nullptr || !is_covered(set, *entry)) continue;
    started += started_of(set, *entry, attempt, *child, starts);
  }
  return started;
}

std::string missing_pods(const api::JobSet& set, std::int32_t attempt,
                         std::span<const Child* const> children, const Starts* starts) {
  constexpr int kNamedJobs = 3;  // enough to know where to look, short enough for a status message
  std::map<std::string_view, const Child*> by_name;
  for (const Child* child : children) by_name.emplace(child->name, child);
  std::string text;
  int named = 0;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    if (!is_covered(set, entry)) continue;
    for (std::int32_t index = 0; index < entry.replicas; ++index) {
      const std::string name = job_name(set, entry.name, index);
      const auto child = by_name.find(name);
      const std::int32_t started =
          child == by_name.end() ? 0 : started_of(set, entry, attempt, *child->second, starts);
      if (started == entry.pods_per_job()) continue;
      if (named++ == kNamedJobs) return text + " and others";
      text +=
          fmt::format("{}{} of {}", text.empty() ? "" : ", ", entry.pods_per_job() - started, name);
    }
  }
  return text;
}

std::int64_t held_pods(std::int32_t attempt, const Starts* starts) {
  std::int64_t held = 0;
  if (starts == nullptr) return held;
  for (const auto& [job, pods] : starts->held) held += job.attempt == attempt ? pods : 0;
  return held;
}

bool waits_for_name(const api::JobSet& set) {
  return set.coordinator && has_hostnames(set) && set.network->publish_not_ready_addresses;
}

bool coordinator_ended(const api::JobSet& set, std::span<const Child* const> children) {
  const api::ReplicatedJob* const entry = set.replicated_job(set.coordinator->replicated_job);
  if (entry == nullptr || set.coordinator->job_index >= entry->replicas) return true;
  const std::string name = job_name(set, entry->name, set.coordinator->job_index);
  return std::ranges::any_of(children, [&](const Child* child) {
    return child->coordinator_ended && child->name == name &&
           child->restart_attempt.value == set.status.restarts;
  });
}

}  // namespace muster::controllers::jobset
