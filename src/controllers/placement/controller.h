// The pod placement reconciler of JobSet: wires informers and a runner to the plan. Its keys are
// the leaders of exclusively placed Jobs.
#pragma once

#include "controllers/placement/plan.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::placement {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  void add_leader_of(const Pod& pod);
  Plan plan_for(const QueueKey& key, const Pass& pass) const;

  Cache<Pod> pods_;
  client::Informer& nodes_;
  Runner runner_;
};

}  // namespace muster::controllers::placement
