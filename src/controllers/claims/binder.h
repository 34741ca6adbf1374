// Binds volume claims to folders of this machine (binding.h). Only together with the local agent:
// on a cluster that is the work of its provisioners.
#pragma once

#include <memory>

#include "controllers/claims/binding.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/events.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::claims {

class Binder final : public controllers::Controller {
 public:
  explicit Binder(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Cache<UnboundClaim> claims_;
  std::unique_ptr<EventRecorder> events_;
  Runner runner_;
};

}  // namespace muster::controllers::claims
