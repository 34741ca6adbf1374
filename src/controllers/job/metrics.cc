#include "controllers/job/metrics.h"

#include <array>

namespace muster::controllers::job {
namespace {

std::string mode_of(const Job& job) { return job.is_indexed() ? "Indexed" : "NonIndexed"; }

// What kept the pass busy.
std::string action_of(const Tally& tally) {
  if (tally.pods_created > 0) return "pods_created";
  if (tally.pods_deleted > 0) return "pods_deleted";
  return tally.pods_succeeded + tally.pods_failed > 0 ? "tracking" : "reconciling";
}

bool is_ended_and_tracked(const Pod* pod) {
  return pod != nullptr && pod->owned_by_job && pod->has_ended() && pod->tracked;
}

const std::vector<double>& seconds_buckets() {
  static const std::vector<double> kBuckets = {.001, .002, .004,  .008,  .016,  .032,  .064,  .128,
                                               .256, .512, 1.024, 2.048, 4.096, 8.192, 16.384};
  return kBuckets;
}

}  // namespace

void JobMetrics::add(const char* name, const char* help, const Metrics::Labels& labels, int by) {
  if (by > 0) metrics_.counter(std::string("job_controller_") + name, help, labels).add(by);
}

void JobMetrics::add(const Job& job, const Tally& tally, Duration took) {
  const std::string mode = mode_of(job), action = action_of(tally);
  const std::string limit = job.backoff_limit_per_index ? "perIndex" : "global";
  const Metrics::Labels sync = {
      {"completion_mode", mode}, {"result", "success"}, {"action", action}};
  add("job_syncs_total", "The number of job syncs", sync);
  metrics_
      .histogram("job_controller_job_sync_duration_seconds", "The time it took to sync a job",
                 seconds_buckets(), sync)
      .observe(std::chrono::duration<double>(took).count());
  for (const auto& [result, count] :
       {std::pair("succeeded", tally.pods_succeeded), std::pair("failed", tally.pods_failed)}) {
    add("job_pods_finished_total", "The number of finished Pods that are fully tracked",
        {{"completion_mode", mode}, {"result", result}}, count);
  }
  for (const auto& [status, count] : {std::pair("succeeded", tally.indexes_succeeded),
                                      std::pair("failed", tally.indexes_failed)}) {
    add("job_finished_indexes_total", "The number of finished indexes",
        {{"status", status}, {"backoffLimit", limit}}, count);
  }
  constexpr std::array<const char*, 4> kActions = {"Ignore", "Count", "FailIndex", "FailJob"};
  for (const auto& [verdict, count] : tally.judged) {
    add("pod_failures_handled_by_failure_policy_total",
        "The number of failed Pods handled by failure policy",
        {{"action", kActions[static_cast<std::size_t>(verdict)]}}, count);
  }
  add("job_pods_creation_total", "The number of Pods created by the Job controller",
      {{"reason", tally.replacing ? (job.replaces_only_failed ? "recreate_failed"
                                                              : "recreate_terminating_or_failed")
                                  : "new"},
       {"status", "succeeded"}},
      tally.pods_created);
  if (!tally.finished_as.empty())
    add("jobs_finished_total", "The number of finished jobs",
        {{"completion_mode", mode},
         {"result", tally.finished_as == "Complete" ? "succeeded" : "failed"},
         {"reason", tally.finish_reason}});
}

void JobMetrics::add_managed_elsewhere(const Job& job) {
  add("jobs_by_external_controller_total", "The number of Jobs managed by an external controller",
      {{"controller_name", job.managed_by}});
}

void JobMetrics::pod_changed(const Pod* before, const Pod* after) {
  const bool was = is_ended_and_tracked(before), is = is_ended_and_tracked(after);
  if (was == is) return;
  add("terminated_pods_tracking_finalizer_total",
      "The number of terminated pods (phase=Failed|Succeeded) that have the tracking finalizer",
      {{"event", is ? "add" : "delete"}});
}

}  // namespace muster::controllers::job
