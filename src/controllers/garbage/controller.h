// The garbage collector: objects go when their owners are gone (spec: job 3.3). Watches the
// metadata of every kind but Events.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/garbage/graph.h"
#include "controllers/garbage/owners.h"
#include "controllers/garbage/plan.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/events.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::garbage {

// Made after the other controllers: it reads from their informers where there are such.
class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle() && owners_.idle(); }

 private:
  static std::vector<client::Informer*> sources(Shared& shared);
  void observe(const api::Resource& resource, const client::ObjectPtr& before,
               const client::ObjectPtr& after);
  Plan plan_for(const QueueKey& key);
  void carried_out(const QueueKey& key);
  store::Revision known_up_to() const;

  const Loop& loop_;
  std::vector<client::Informer*> sources_;
  Graph graph_;
  // By uid: when they were seen to go in the foreground, by monotonic time.
  std::map<std::string, Duration> going_roots_;
  std::map<QueueKey, std::vector<Question>> questions_;  // of the plans on their way
  Owners owners_;
  Surroundings around_;
  std::unique_ptr<EventRecorder> events_;
  Runner runner_;
};

}  // namespace muster::controllers::garbage
