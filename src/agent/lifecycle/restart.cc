#include "agent/lifecycle/restart.h"

#include <algorithm>

namespace muster::agent {
namespace {

bool matches(const RestartRule& rule, int code) {
  const bool listed = std::ranges::find(rule.codes, std::int64_t{code}) != rule.codes.end();
  return listed == rule.in;
}

bool is_stale(const Backoff& backoff, Time finished, const BackoffOptions& options) {
  return backoff.delay == Duration::zero() || finished - backoff.last_start > options.reset_after;
}

}  // namespace

bool policy_restarts(const PodView& pod, const ContainerView& container, int exit_code) {
  if (pod.deleted) return false;
  switch (container.policy.value_or(pod.policy)) {
    case RestartPolicy::kAlways:
      return true;
    case RestartPolicy::kOnFailure:
      return exit_code != 0;
    case RestartPolicy::kNever:
      return false;
  }
  return false;
}

Restart restart_after(const PodView& pod, const ContainerView& container, int exit_code) {
  if (pod.deleted) return Restart::kNo;
  // A regular init container that has succeeded is done, whatever the pod's policy.
  if (container.role == Role::kInit && exit_code == 0) return Restart::kNo;
  for (const RestartRule& rule : container.rules) {
    if (matches(rule, exit_code))
      return rule.all_containers ? Restart::kAllContainers : Restart::kYes;
  }
  return policy_restarts(pod, container, exit_code) ? Restart::kYes : Restart::kNo;
}

std::optional<Time> backoff_until(const Backoff& backoff, Time finished, Time now,
                                  const BackoffOptions& options) {
  if (is_stale(backoff, finished, options)) return std::nullopt;
  const Time until = finished + backoff.delay;
  return until > now ? std::optional(until) : std::nullopt;
}

void note_restart(Backoff& backoff, Time finished, Time now, const BackoffOptions& options) {
  backoff.delay = is_stale(backoff, finished, options) ? options.base
                                                       : std::min(2 * backoff.delay, options.cap);
  backoff.last_start = now;
}

}  // namespace muster::agent
