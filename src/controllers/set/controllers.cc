#include "controllers/set/controllers.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "controllers/claims/binder.h"
#include "controllers/claims/controller.h"
#include "controllers/endpoints/controller.h"
#include "controllers/garbage/controller.h"
#include "controllers/job/controller.h"
#include "controllers/jobset/controller.h"
#include "controllers/manager/controller.h"
#include "controllers/namespaces/controller.h"
#include "controllers/nodes/controller.h"
#include "controllers/placement/controller.h"
#include "controllers/podgc/controller.h"
#include "controllers/runtime/informers.h"
#include "controllers/serviceaccount/controller.h"
#include "controllers/ttl/controller.h"
#include "scheduler/scheduler.h"

namespace muster::controllers {
namespace {

class JoinedControllers final : public ControllerSet {
 public:
  JoinedControllers(client::Client& client, const api::Registry& registry, Metrics& metrics,
                    SetOptions options)
      : informers_(client, registry),
        shared_{client,
                registry,
                informers_,
                decisions_,
                metrics,
                std::move(options.gates),
                std::move(options.barrier_program),
                std::move(options.port_is_free),
                options.job_limits,
                options.pod_limits} {
    const auto& wanted = options.wanted;
    if (wanted.contains("job") || wanted.contains("scheduler"))
      shared_.going = &going_.emplace(informers_, wanted.contains("garbage"));
    if (wanted.contains("serviceaccount")) add<serviceaccount::Controller>();
    if (wanted.contains("jobset")) {
      add<jobset::Controller>();
      add<placement::Controller>();
    }
    if (wanted.contains("manager")) add<manager::Controller>();
    if (wanted.contains("job")) add<job::Controller>();
    if (wanted.contains("ttl")) add<ttl::Controller>();
    if (wanted.contains("scheduler")) add<scheduler::Scheduler>();
    if (wanted.contains("endpointslice")) add<endpoints::Controller>();
    if (wanted.contains("claims")) add<claims::Controller>();
    if (wanted.contains("agent")) add<claims::Binder>();  // whose folders claims are bound to
    if (wanted.contains("node")) add<nodes::Controller>();
    if (wanted.contains("podgc")) add<podgc::Controller>();
    if (wanted.contains("namespace")) add<namespaces::Controller>();
    if (wanted.contains("garbage")) add<garbage::Controller>();  // last: see there
    informers_.start();
  }

  bool idle() const override {
    return std::ranges::all_of(controllers_, [](const auto& each) { return each->idle(); });
  }
  const DecisionLog& decisions() const override { return decisions_; }

 private:
  template <class Kind>
  void add() {
    controllers_.push_back(std::make_unique<Kind>(shared_));
  }

  Informers informers_;
  std::optional<Going> going_;
  DecisionLog decisions_;
  Shared shared_;
  std::vector<std::unique_ptr<Controller>> controllers_;
};

}  // namespace

std::unique_ptr<ControllerSet> ControllerSet::make(client::Client& client,
                                                   const api::Registry& registry, Metrics& metrics,
                                                   SetOptions options) {
  return std::make_unique<JoinedControllers>(client, registry, metrics, std::move(options));
}

}  // namespace muster::controllers
