// Every namespace has a ServiceAccount "default": pods that name none run as it.
#pragma once

#include "client/informer.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::serviceaccount {

class Controller {
 public:
  // The informers must outlive the controller and be started by the caller.
  Controller(client::Client& client, client::Informer& namespaces, client::Informer& accounts);

 private:
  Plan plan_for(const QueueKey& key) const;

  client::Informer& namespaces_;
  client::Informer& accounts_;
  Runner runner_;
};

}  // namespace muster::controllers::serviceaccount
