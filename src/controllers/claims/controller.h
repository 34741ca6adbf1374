// Lets volume claims go that are deleted and no longer used: wires informers and a runner to the
// plan.
#pragma once

#include <map>
#include <set>
#include <string>

#include "controllers/claims/plan.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::claims {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  void pod_changed(const User* before, const User* after);

  Cache<Claim> claims_;
  Cache<User> pods_;
  std::map<QueueKey, std::set<std::string>> users_;  // of a claim: the uids of its pods
  Runner runner_;
};

}  // namespace muster::controllers::claims
