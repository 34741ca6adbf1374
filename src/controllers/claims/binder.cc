#include "controllers/claims/binder.h"

namespace muster::controllers::claims {

Binder::Binder(Shared& shared)
    : claims_(shared.informers.changes_of("", "v1", "persistentvolumeclaims"),
              reader(read_unbound_claim)),
      events_(make_event_recorder(shared.client, shared.registry, "persistentvolume-controller",
                                  EventRecorder::Form::kCore)),
      runner_(shared.client,
              {.name = "binder",
               .sources = {&claims_.informer()},
               .plan =
                   [this](const QueueKey& key, const Pass&) {
                     const UnboundClaim* claim = claims_.find(key.ns, key.name);
                     return claim == nullptr ? Plan{} : bind(claims_.informer().resource(), *claim);
                   },
               .events = events_.get(),
               .log = &shared.decisions}) {
  claims_.on_change([this](const UnboundClaim*, const UnboundClaim* after) {
    if (after != nullptr) runner_.add({after->ref.ns, after->ref.name});
  });
}

}  // namespace muster::controllers::claims
