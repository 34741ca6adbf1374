// The JobSet controller: wires informers and a runner to the plan, and counts what came of it.
#pragma once

#include <map>

#include "controllers/jobset/barriers.h"
#include "controllers/jobset/master_port.h"
#include "controllers/jobset/plan.h"
#include "controllers/jobset/progress.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::jobset {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle() && (!barriers_ || barriers_->idle()); }

 private:
  std::unique_ptr<Barriers> make_barriers(Shared& shared);
  std::vector<client::Informer*> sources() const;
  Plan plan_for(const QueueKey& key, const Pass& pass);
  void carried_out(const QueueKey& key);
  void forget(const QueueKey& key);

  Kinds kinds_;
  Gates gates_;
  Cache<api::JobSet> job_sets_;
  Cache<Child> jobs_;
  client::Informer& services_;
  client::Informer& claims_;
  Progress progress_;
  std::unique_ptr<EventRecorder> events_;
  BarrierProgram barrier_program_;
  MasterPorts master_ports_;
  std::map<QueueKey, PortRequest> port_requests_;  // of the plans on their way
  std::map<QueueKey, GivenPort> given_ports_;      // for the next plans
  JobLimits limits_;
  std::size_t waiting_jobs_ = 0;        // of all sets
  std::unique_ptr<Barriers> barriers_;  // null pointer if their gate is off
  Runner runner_;
};

}  // namespace muster::controllers::jobset
