// Binds pods to nodes: informers in, pods/binding out.
#pragma once

#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::scheduler {

class Scheduler final : public controllers::Controller {
 public:
  explicit Scheduler(controllers::Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  controllers::Plan plan_for(const controllers::QueueKey& key) const;
  void retry_unplaced();

  client::Informer& pods_;
  client::Informer& nodes_;
  controllers::Runner runner_;
};

}  // namespace muster::scheduler
