// The node controller: judges nodes by their signs of life, taints them as their conditions say,
// and evicts pods from them. For the embedded engine; a real cluster has its own.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "controllers/nodes/plan.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::nodes {

class Controller final : public controllers::Controller {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(5);  // between two looks at the clock
  // A look that comes later than this was held up: this machine was asleep, and so was everybody
  // whose sign of life is missing.
  static constexpr Duration kHeldUp = 2 * kPeriod;

  explicit Controller(Shared& shared);
  bool idle() const override { return node_runner_.idle() && pod_runner_.idle(); }

 private:
  struct Watched {
    SignsOfLife signs;
    std::vector<SeenTaint> taints;  // NoExecute ones
  };

  void node_changed(const Node* before, const Node* after);
  void lease_changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void pod_changed(const Pod* before, const Pod* after);
  void note_taints(Watched& watched, const Node& node);
  void count_ready(int change);
  void look_at_pods(const std::string& node);
  void wait();
  void look();
  Plan plan_for_node(const QueueKey& key, Time now);
  Plan plan_for_pod(const QueueKey& key, Time now);
  Duration moment() { return client_.loop().monotonic(); }
  // Of something that we see for the first time and that says since when it is there.
  Duration moment_of(Time then);

  client::Client& client_;
  client::Informer& node_informer_;
  client::Informer& pod_informer_;
  client::Informer& lease_informer_;
  Cache<Node> nodes_;
  Cache<Pod> pods_;
  std::map<std::string, Watched> watched_;  // by node, also before the node is there
  std::map<std::string, std::map<QueueKey, Duration>> pods_of_;  // since which moment, by node
  int ready_ = 0;                                                // nodes
  Duration last_look_;                                           // moment
  std::unique_ptr<EventRecorder> node_events_;
  std::unique_ptr<EventRecorder> pod_events_;
  Runner node_runner_;
  Runner pod_runner_;
  Lifetime lifetime_;
};

}  // namespace muster::controllers::nodes
