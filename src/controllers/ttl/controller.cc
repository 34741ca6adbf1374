#include "controllers/ttl/controller.h"

namespace muster::controllers::ttl {

Controller::Controller(Shared& shared)
    : jobs_(shared.informers.changes_of("batch", "v1", "jobs"), read_candidate),
      runner_(shared.client, {.name = "ttl",
                              .sources = {&jobs_.informer()},
                              .plan =
                                  [this](const QueueKey& key, const Pass& pass) {
                                    const Candidate* job = jobs_.find(key.ns, key.name);
                                    return job == nullptr
                                               ? Plan{}
                                               : plan(jobs_.informer().resource(), *job, pass.now);
                                  },
                              .log = &shared.decisions}) {
  jobs_.on_change([this](const Candidate*, const Candidate* after) {
    if (after != nullptr && after->ttl && after->finished)
      runner_.add({after->ref.ns, after->ref.name});
  });
}

}  // namespace muster::controllers::ttl
