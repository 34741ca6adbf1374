// The Job controller: wires informers and runners to the plans. In memory it keeps only what can be
// lost: indexes of what the informers hold, and the record of failures for the back-off.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "controllers/job/metrics.h"
#include "controllers/job/plan.h"
#include "controllers/job/pod_room.h"
#include "controllers/job/urgency.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::job {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return jobs_runner_.idle() && orphans_runner_.idle(); }

 private:
  Plan plan_job(const QueueKey& key, const Pass& pass);
  Plan plan_pod(const QueueKey& key) const;
  void carried_out(const QueueKey& key);

  void job_changed(const Job* before, const Job* after);
  void pod_changed(const Pod* before, const Pod* after);
  void index_pod(const Pod* before, const Pod* after);
  void wake_owner(const Pod& pod, Urgency urgency);
  void wake_selecting_jobs(const Pod& pod);
  void let_go_if_orphan(const Pod& pod);
  const Job* owner_of(const Pod& pod) const;
  std::vector<const Pod*> uncontrolled(const std::string& ns) const;
  bool goes_with_owner(const Job& job) const;
  void wake(const std::optional<QueueKey>& job) {
    if (job) jobs_runner_.add(*job);
  }

  // A plan on its way, for the metrics.
  struct Planned {
    Tally tally;
    Time since;
  };

  Kinds kinds_;
  Cache<Job> jobs_;
  Cache<Pod> pods_;
  const Clock& clock_;
  JobMetrics metrics_;
  std::unique_ptr<EventRecorder> events_;
  std::map<std::string, BackoffRecord> backoff_;  // by the Job's UID
  std::map<QueueKey, Planned> planned_;
  // Active pods that are not ready, by their Job's UID: when the last one is, somebody waits.
  std::map<std::string, std::int64_t> unready_;
  std::map<std::string, std::map<std::string, const Pod*>> uncontrolled_;  // by namespace and name
  PodRoom room_;
  Going* going_;
  Runner jobs_runner_;
  Runner orphans_runner_;  // keys are pods
};

}  // namespace muster::controllers::job
