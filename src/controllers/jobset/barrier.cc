#include "controllers/jobset/barrier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Value;

constexpr std::string_view kStarted = "started-";
constexpr std::string_view kProgress = "progress-";

std::optional<std::int32_t> count_of(std::string_view text) {
  const auto number = parse_number<std::int32_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
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

std::string started_key(std::int32_t attempt) { return fmt::format("{}{}", kStarted, attempt); }
std::string progress_key(std::int32_t attempt) { return fmt::format("{}{}", kProgress, attempt); }
std::string coordinator_key(std::int32_t attempt) {
  return started_key(attempt) + std::string(api::kCoordinatorEnded);
}

std::optional<std::int32_t> attempt_of_barrier(std::string_view annotation) {
  const auto slash = annotation.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view key = annotation.substr(slash + 1);
  return key.starts_with(kStarted) ? count_of(key.substr(kStarted.size())) : std::nullopt;
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
    const std::int32_t expected = entry->pods_per_job();
    if (child->end == Child::End::kComplete &&
        child->restart_attempt.value == set.status.restarts) {
      started += expected;
    } else if (starts != nullptr) {
      const auto found = starts->pods.find({attempt, child->name});
      if (found != starts->pods.end()) started += std::min(found->second, expected);
    }
  }
  return started;
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
