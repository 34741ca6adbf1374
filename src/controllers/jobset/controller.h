// The JobSet controller: wires informers and a runner to the plan.
#pragma once

#include "controllers/jobset/plan.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::jobset {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Plan plan_for(const QueueKey& key, Time now) const;

  Kinds kinds_;
  client::Informer& job_sets_;
  client::Informer& jobs_;
  client::Informer& services_;
  Runner runner_;
};

}  // namespace muster::controllers::jobset
