#include "controllers/jobset/buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

std::unexpected<Error> bad_label(const Child& child, std::string_view key) {
  return fail(Code::kInternal,
              fmt::format("job \"{}\": label {} is missing or no integer", child.name, key));
}

// How often this one Job has been restarted, as the status has it.
Result<std::int32_t> wanted_job_attempt(const api::JobSet& set, const Child& child) {
  const auto& statuses = set.status.replicated_jobs;
  const auto status =
      std::ranges::find(statuses, *child.replicated_job, &api::ReplicatedJobStatus::name);
  const bool counted = status != statuses.end() && !status->job_restarts.empty();
  const api::ReplicatedJob* const entry = set.replicated_job(*child.replicated_job);
  const std::size_t replicas = counted            ? status->job_restarts.size()
                               : entry == nullptr ? 0
                                                  : static_cast<std::size_t>(entry->replicas);
  const auto index = static_cast<std::size_t>(*child.job_index.value);  // a negative one is huge
  if (index >= replicas) {
    return fail(Code::kInternal,
                fmt::format("job \"{}\": index {} is not among the {} of replicatedJob {}",
                            child.name, *child.job_index.value, replicas, *child.replicated_job));
  }
  return counted ? status->job_restarts[index] : 0;
}

Result<bool> is_previous(const api::JobSet& set, const Child& child, const Gates& gates,
                         std::int32_t barrier_attempt) {
  if (!child.restart_attempt.value) return bad_label(child, label::kRestartAttempt);
  if (*child.restart_attempt.value < set.status.restarts) return true;
  if (child.end == Child::End::kNone &&
      child.barrier_attempt.value_or(barrier_attempt) < barrier_attempt)
    return true;
  if (!gates.restart_job) return false;
  if (!child.replicated_job) return bad_label(child, label::kReplicatedJobName);
  if (!child.job_index.value) return bad_label(child, label::kJobIndex);
  // A Job from before the gate was on has no such label.
  if (!child.job_restart_attempt.present) return false;
  if (!child.job_restart_attempt.value) return bad_label(child, label::kJobRestartAttempt);
  MUSTER_TRY(const std::int32_t wanted, wanted_job_attempt(set, child));
  return *child.job_restart_attempt.value < wanted;
}

}  // namespace

Result<Buckets> sort_into_buckets(const api::JobSet& set, std::span<const Child* const> children,
                                  const Gates& gates, std::int32_t barrier_attempt) {
  Buckets out;
  out.active.reserve(children.size());
  for (const Child* child : children) {
    MUSTER_TRY(const bool previous, is_previous(set, *child, gates, barrier_attempt));
    if (previous) {
      out.previous.push_back(child);
    } else if (child->end == Child::End::kComplete) {
      out.successful.push_back(child);
    } else if (child->end == Child::End::kFailed) {
      out.failed.push_back(child);
    } else {
      out.active.push_back(child);
    }
  }
  return out;
}

}  // namespace muster::controllers::jobset
