// KEP-498: the pods of a group wait, after their own init containers and before their main ones,
// until all of them have started (spec: jobset 8.3; docs/barrier.md). What a barrier is made of,
// and in which attempt it stands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controllers/jobset/child.h"
#include "controllers/jobset/gates.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::jobset {

bool has_barrier(const api::JobSet& set, const Gates& gates);
// The entry's pods wait, and are waited for. The set must have a barrier.
bool is_covered(const api::JobSet& set, const api::ReplicatedJob& entry);
// The pods that must have started.
std::int64_t barrier_size(const api::JobSet& set);

// Its ConfigMap. A key of it is the signal for one attempt, so that none opens a later barrier.
std::string barrier_config_map(const api::JobSet& set);
std::string started_key(std::int32_t attempt);  // is there when all have started
// How many have started, and which have not. Both are kept only for the message of a timeout.
std::string progress_key(std::int32_t attempt);
std::string missing_key(std::int32_t attempt);
std::string coordinator_key(std::int32_t attempt);  // is there when the coordinator has ended
// The attempt of a pod or pod template whose annotation kBarrier is this; nothing if it is none.
std::optional<std::int32_t> attempt_of_barrier(std::string_view annotation);

// What the ConfigMap says.
struct Signal {
  ObjectRef ref;
  std::string owner_uid;
  // How often a set was suspended after its barrier had opened: each makes a new attempt.
  std::int32_t resumes = 0;
  std::map<std::string, std::string, std::less<>> data;

  bool is_open(std::int32_t attempt) const { return data.contains(started_key(attempt)); }
};
inline constexpr std::string_view kResumes = "muster.dev/resumes";  // its annotation
Signal read_signal(json::Value config_map);

// Restarts and resumes so far. Jobs know it too, should the ConfigMap have been lost. `signal` is
// null if there is none.
std::int32_t barrier_attempt(const api::JobSet& set, const Signal* signal,
                             std::span<const Child* const> children);

// Pods that have reached the barrier, or are past it, by Job; of one set.
struct Starts {
  struct Job {
    std::int32_t attempt;
    std::string name;
    auto operator<=>(const Job&) const = default;
  };
  std::map<Job, std::int32_t> pods;
  std::map<Job, std::int32_t> held;  // of these, the ones whose main containers do not run yet
};
// How many of barrier_size() have started. Jobs that are complete need no more pods. `starts` is
// null if no pod has.
std::int64_t started_pods(const api::JobSet& set, std::int32_t attempt,
                          std::span<const Child* const> children, const Starts* starts);
// The pods that have not started, by Job: `2 of js-w-0, 1 of js-w-3`. Names the first few Jobs
// only.
std::string missing_pods(const api::JobSet& set, std::int32_t attempt,
                         std::span<const Child* const> children, const Starts* starts);
// How many of them do not run yet.
std::int64_t held_pods(std::int32_t attempt, const Starts* starts);

// A pod goes on only when the coordinator's name can be resolved, too. A name that is published
// only when its pod is ready would never come: that pod waits as well.
bool waits_for_name(const api::JobSet& set);
// The coordinator's name is not coming, or not any more: its pod has succeeded in this attempt, or
// the set has no such pod.
bool coordinator_ended(const api::JobSet& set, std::span<const Child* const> children);

}  // namespace muster::controllers::jobset
