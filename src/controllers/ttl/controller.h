// Removes finished Jobs after their time to live: wires the informer and a runner to the plan.
#pragma once

#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"
#include "controllers/ttl/plan.h"

namespace muster::controllers::ttl {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Cache<Candidate> jobs_;
  Runner runner_;
};

}  // namespace muster::controllers::ttl
