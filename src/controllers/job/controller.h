// The Job controller: wires informers and a runner to the plan.
#pragma once

#include "controllers/job/plan.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::job {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Plan plan_for(const QueueKey& key, Time now) const;

  Kinds kinds_;
  client::Informer& jobs_;
  client::Informer& pods_;
  Runner runner_;
};

}  // namespace muster::controllers::job
