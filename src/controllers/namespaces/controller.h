// The namespace controller: wires namespaces and surveys of them to the plan.
#pragma once

#include <map>
#include <memory>

#include "controllers/namespaces/plan.h"
#include "controllers/namespaces/survey.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::namespaces {

class Controller final : public controllers::Controller {
 public:
  explicit Controller(Shared& shared);
  ~Controller() override;
  bool idle() const override { return runner_.idle() && surveys_.empty(); }

 private:
  Plan plan_for(const QueueKey& key, Time now);
  void survey(const std::string& ns);

  client::Client& client_;
  const api::Registry& registry_;
  client::Informer& namespaces_;
  std::map<std::string, std::shared_ptr<Survey>> surveys_;  // under way
  std::map<std::string, Content> contents_;                 // each for the next plan only
  Runner runner_;
};

}  // namespace muster::controllers::namespaces
