// Every namespace has a ServiceAccount "default": pods that name none run as it.
#pragma once

#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::serviceaccount {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Plan plan_for(const QueueKey& key) const;

  client::Informer& namespaces_;
  client::Informer& accounts_;
  Runner runner_;
};

}  // namespace muster::controllers::serviceaccount
