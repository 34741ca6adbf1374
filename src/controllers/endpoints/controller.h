// The EndpointSlice controller: wires Services, pods, nodes and slices to the plan.
#pragma once

#include "controllers/endpoints/plan.h"
#include "controllers/endpoints/selection.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/events.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::endpoints {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  Plan plan_for(const QueueKey& key) const;
  void wake_services_of(const Pod& pod);
  void note(const Slice* before, const Slice* after);

  Cache<Service> services_;
  Cache<Pod> pods_;
  Cache<Node> nodes_;
  Cache<Slice> slices_;
  Selection selection_{pods_.all()};
  std::map<QueueKey, std::map<std::string, const Slice*>> slices_of_;  // by Service, then by name
  std::unique_ptr<EventRecorder> events_;
  Runner runner_;
};

}  // namespace muster::controllers::endpoints
