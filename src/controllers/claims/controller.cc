#include "controllers/claims/controller.h"

namespace muster::controllers::claims {

Controller::Controller(Shared& shared)
    : claims_(shared.informers.changes_of("", "v1", "persistentvolumeclaims"), read_claim),
      pods_(shared.informers.changes_of("", "v1", "pods"), read_user),
      runner_(shared.client, {.name = "claims",
                              .sources = {&claims_.informer(), &pods_.informer()},
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
  pods_.on_change([this](const User* before, const User* after) { pod_changed(before, after); });
}

void Controller::pod_changed(const User* before, const User* after) {
  if (after != nullptr) {
    for (const std::string& claim : after->claims) users_[{after->ns, claim}].insert(after->uid);
  }
  if (before == nullptr) return;
  // A name may have passed to another pod between two looks.
  const bool same = after != nullptr && after->uid == before->uid;
  for (const std::string& claim : before->claims) {
    if (same && after->claims.contains(claim)) continue;
    const auto users = users_.find({before->ns, claim});
    users->second.erase(before->uid);
    if (!users->second.empty()) continue;
    runner_.add(users->first);
    users_.erase(users);
  }
}

}  // namespace muster::controllers::claims
