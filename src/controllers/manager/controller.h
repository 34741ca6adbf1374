// Keeps the Deployment that stands for the JobSet controller; see plan.h.
#pragma once

#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::manager {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Plan plan_for(const Pass& pass) const;

  client::Informer& namespaces_;
  client::Informer& deployments_;
  Runner runner_;
};

}  // namespace muster::controllers::manager
