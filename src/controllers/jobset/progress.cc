#include "controllers/jobset/progress.h"

#include <vector>

#include "controllers/jobset/tally.h"

namespace muster::controllers::jobset {
namespace {

constexpr const char* kCompleted = "jobset_completed_total";
constexpr const char* kFailed = "jobset_failed_total";

Metrics::Labels labels_of(const client::QueueKey& key) {
  return {{"jobset_name", key.name}, {"namespace", key.ns}};
}

const std::vector<double>& ready_buckets() {
  static const std::vector<double> kSeconds = {0.1, 0.5, 1, 5, 10, 30, 60, 300, 1'800, 3'600};
  return kSeconds;
}

}  // namespace

void Progress::planned(const client::QueueKey& key, const api::JobSet& set,
                       const api::JobSetStatus& after, Time now) {
  changes_.erase(key);
  if (set.status.replicated_jobs.empty() && !set.replicated_jobs.empty()) starting_.insert(key);
  Change change{.restarts = after.restarts - set.status.restarts};
  if (set.status.terminal_state.empty()) change.terminal_state = after.terminal_state;
  if (starting_.contains(key) && set.meta.creation_time && all_ready(set, after)) {
    change.ready_after = now - *set.meta.creation_time;
  }
  if (change.restarts > 0 || !change.terminal_state.empty() || change.ready_after) {
    changes_.emplace(key, std::move(change));
  }
}

void Progress::carried_out(const client::QueueKey& key) {
  const auto found = changes_.extract(key);
  if (found.empty()) return;
  const Change& change = found.mapped();
  if (change.terminal_state == "Completed") {
    metrics_.counter(kCompleted, "JobSets that completed.", labels_of(key)).add();
  } else if (change.terminal_state == "Failed") {
    metrics_.counter(kFailed, "JobSets that failed.", labels_of(key)).add();
  }
  if (!change.terminal_state.empty()) {
    metrics_
        .counter("muster_jobsets_finished_total", "JobSets that ended, by how.",
                 {{"result", change.terminal_state}})
        .add();
  }
  if (change.restarts > 0) {
    metrics_.counter("muster_jobset_restarts_total", "Restarts of whole JobSets.")
        .add(change.restarts);
  }
  if (!change.ready_after) return;
  starting_.erase(key);
  metrics_
      .histogram("muster_jobset_ready_seconds",
                 "Time from the creation of a JobSet until all of its Jobs were ready first.",
                 ready_buckets())
      .observe(std::chrono::duration<double>(*change.ready_after).count());
}

void Progress::gone(const client::QueueKey& key) {
  changes_.erase(key);
  starting_.erase(key);
  for (const char* name : {kCompleted, kFailed}) metrics_.drop_counter(name, labels_of(key));
}

}  // namespace muster::controllers::jobset
