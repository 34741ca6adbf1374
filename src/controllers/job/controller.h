// The Job controller: wires informers and a runner to the plan.
#pragma once

#include "client/informer.h"
#include "controllers/job/plan.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::job {

class Controller {
 public:
  // The informers must outlive the controller and be started by the caller.
  Controller(client::Client& client, const api::Registry& registry, client::Informer& jobs,
             client::Informer& pods);

 private:
  Plan plan_for(const QueueKey& key, Time now) const;

  Kinds kinds_;
  client::Informer& jobs_;
  client::Informer& pods_;
  Runner runner_;
};

}  // namespace muster::controllers::job
