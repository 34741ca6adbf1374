// The pod collector: looks at all pods every 20 seconds.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "controllers/podgc/missing_nodes.h"
#include "controllers/podgc/plan.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::podgc {

class Controller final : public controllers::Controller {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(20);

  explicit Controller(Shared& shared);
  bool idle() const override { return runner_.idle(); }

 private:
  // Asking the server about nodes, in one round.
  struct Round {
    std::set<std::string> lost;
    std::size_t open = 0;  // questions without an answer
  };
  void wait();
  void look();
  void ask(const std::shared_ptr<Round>& round, const std::string& node);
  std::set<std::string> missing_nodes() const;
  void collect(const std::set<std::string>& lost_nodes);
  Plan plan_for(const QueueKey& key, Time now);

  client::Client& client_;
  client::Informer& pod_informer_;
  client::Informer& node_informer_;
  Cache<Pod> pods_;
  Cache<Node> nodes_;
  MissingNodes quarantine_;
  // What the last look said, until its plan is made.
  struct Sentence {
    std::string uid;
    bool disrupted = false;
    std::string why;
  };
  std::map<QueueKey, Sentence> sentences_;
  Runner runner_;
  Lifetime lifetime_;
};

}  // namespace muster::controllers::podgc
