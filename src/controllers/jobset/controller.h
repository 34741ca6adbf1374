// The JobSet controller: wires informers and a runner to the plan.
#pragma once

#include "client/informer.h"
#include "controllers/jobset/plan.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::jobset {

class Controller {
 public:
  // The informers must outlive the controller and be started by the caller.
  Controller(client::Client& client, const api::Registry& registry, client::Informer& job_sets,
             client::Informer& jobs, client::Informer& services);

 private:
  Plan plan_for(const QueueKey& key, Time now) const;

  Kinds kinds_;
  client::Informer& job_sets_;
  client::Informer& jobs_;
  client::Informer& services_;
  Runner runner_;
};

}  // namespace muster::controllers::jobset
