#include "controllers/ttl/plan.h"

#include <fmt/format.h>

#include "api/views/views.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::ttl {

Candidate read_candidate(const store::Object& job, json::Value content) {
  const api::Meta& meta = job.meta();
  Candidate out{.ref = ref_of(meta, "batch/v1", "Job"), .deleting = meta.deletion_time.has_value()};
  const json::Value ttl = content.get({"spec", "ttlSecondsAfterFinished"});
  if (!ttl.is_number()) return out;
  out.ttl = std::chrono::seconds(ttl.as_int());
  for (const api::Condition& condition :
       api::read_conditions(content.get({"status", "conditions"}))) {
    const bool terminal = condition.type == "Complete" || condition.type == "Failed";
    if (!terminal || !condition.is_true) continue;
    out.finished = true;
    out.finished_at = condition.last_transition_time;
    break;
  }
  return out;
}

Plan plan(const api::Resource& jobs, const Candidate& job, Time now) {
  Plan plan;
  if (!job.ttl || !job.finished || job.deleting) return plan;
  if (!job.finished_at) {
    plan.error = "the finished Job does not say when it finished";
    return plan;
  }
  const Duration left = *job.finished_at + *job.ttl - now;
  if (left > Duration::zero()) {
    plan.look_again = left;
    return plan;
  }
  plan.reason = fmt::format("finished more than {} s ago", job.ttl->count());
  // What belongs to the Job goes before it. Only the very version that was looked at: its TTL may
  // have been changed since, or another Job may have taken its name.
  plan.then({.operation = remove_version(jobs, job.ref, Propagation::kForeground)});
  return plan;
}

}  // namespace muster::controllers::ttl
