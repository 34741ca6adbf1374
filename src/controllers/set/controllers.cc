#include "controllers/set/controllers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
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

struct Member {
  std::string_view name;
  std::unique_ptr<Controller> (*make)(Shared& shared);
};

template <class Kind>
std::unique_ptr<Controller> make(Shared& shared) {
  return std::make_unique<Kind>(shared);
}

// In the order in which they are made. Several may share a name.
constexpr std::array<Member, 14> kMembers = {{
    {"serviceaccount", make<serviceaccount::Controller>},
    {"jobset", make<jobset::Controller>},
    {"jobset", make<placement::Controller>},
    {"manager", make<manager::Controller>},
    {"job", make<job::Controller>},
    {"ttl", make<ttl::Controller>},
    {"scheduler", make<scheduler::Scheduler>},
    {"endpointslice", make<endpoints::Controller>},
    {"claims", make<claims::Controller>},
    {"agent", make<claims::Binder>},  // whose folders claims are bound to
    {"node", make<nodes::Controller>},
    {"podgc", make<podgc::Controller>},
    {"namespace", make<namespaces::Controller>},
    {"garbage", make<garbage::Controller>},  // last: see there
}};

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
    for (const Member& member : kMembers) {
      if (wanted.contains(member.name)) controllers_.push_back(member.make(shared_));
    }
    informers_.start();
  }

  bool idle() const override {
    return std::ranges::all_of(controllers_, [](const auto& each) { return each->idle(); });
  }
  const DecisionLog& decisions() const override { return decisions_; }

 private:
  Informers informers_;
  std::optional<Going> going_;
  DecisionLog decisions_;
  Shared shared_;
  std::vector<std::unique_ptr<Controller>> controllers_;
};

}  // namespace

const std::set<std::string, std::less<>>& ControllerSet::names() {
  static const auto kNames = [] {
    std::set<std::string, std::less<>> names;
    for (const Member& member : kMembers) names.emplace(member.name);
    return names;
  }();
  return kNames;
}

std::unique_ptr<ControllerSet> ControllerSet::make(client::Client& client,
                                                   const api::Registry& registry, Metrics& metrics,
                                                   SetOptions options) {
  return std::make_unique<JoinedControllers>(client, registry, metrics, std::move(options));
}

}  // namespace muster::controllers
