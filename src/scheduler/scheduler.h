// Binds pods to nodes: informers in, pods/binding out.
#pragma once

#include "client/informer.h"
#include "controllers/runtime/runner.h"

namespace muster::scheduler {

class Scheduler {
 public:
  // The informers must outlive the scheduler and be started by the caller.
  Scheduler(client::Client& client, client::Informer& pods, client::Informer& nodes);

 private:
  controllers::Plan plan_for(const controllers::QueueKey& key) const;
  void retry_unplaced();

  client::Informer& pods_;
  client::Informer& nodes_;
  controllers::Runner runner_;
};

}  // namespace muster::scheduler
