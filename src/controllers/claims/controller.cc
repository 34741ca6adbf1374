#include "controllers/claims/controller.h"

#include <algorithm>

namespace muster::controllers::claims {

Controller::Controller(Shared& shared)
    : claims_(shared.informers.of("", "v1", "persistentvolumeclaims"), read_claim),
      pods_(shared.informers.of("", "v1", "pods")),
      runner_(shared.client, {.name = "claims",
                              .sources = {&claims_.informer(), &pods_},
                              .plan =
                                  [this](const QueueKey& key, const Pass&) {
                                    const Claim* claim = claims_.find(key.ns, key.name);
                                    return claim == nullptr ? Plan{}
                                                            : plan(claims_.informer().resource(),
                                                                   *claim, users_.contains(key));
                                  },
                              .log = &shared.decisions}) {
  claims_.on_change([this](const Claim*, const Claim* after) {
    if (after != nullptr && after->waits()) runner_.add({after->ref.ns, after->ref.name});
  });
  pods_.on_change([this](const client::ObjectPtr& before, const client::ObjectPtr& after) {
    pod_changed(before, after);
  });
}

void Controller::pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  const api::Meta& meta = (after ? after : before)->meta();
  const User was = before ? read_user(*before) : User{};
  const User is = after ? read_user(*after) : User{};
  for (const std::string& claim : is.claims) users_[{meta.ns, claim}].insert(meta.uid);
  for (const std::string& claim : was.claims) {
    const QueueKey key{meta.ns, claim};
    const auto users = users_.find(key);
    if (std::ranges::find(is.claims, claim) != is.claims.end() || users == users_.end()) continue;
    users->second.erase(meta.uid);
    if (!users->second.empty()) continue;
    users_.erase(users);
    runner_.add(key);
  }
}

}  // namespace muster::controllers::claims
