// The part of the JobSet controller that opens barriers: counts pods as they start and gives the
// signal. KEP-498's group scheduling controller.
#pragma once

#include <functional>

#include "controllers/jobset/barrier_gate.h"
#include "controllers/jobset/barrier_pods.h"
#include "controllers/runtime/cache.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/runner.h"

namespace muster::controllers::jobset {

class Barriers {
 public:
  struct Uses {  // all outlive it
    const Kinds& kinds;
    const Cache<api::JobSet>& job_sets;
    const Cache<Child>& jobs;
    EventRecorder& events;
    // The JobSet's status has something to say about its barrier: now, or when it suits.
    std::function<void(const QueueKey& set, bool now)> changed;
  };
  Barriers(Shared& shared, Uses uses, Gates gates);
  Barriers(const Barriers&) = delete;

  client::Informer& config_maps() const { return signals_.informer(); }
  const Signal* signal_of(const api::JobSet& set) const;  // null if there is none of its own
  const Starts* starts_of(const api::JobSet& set) const {
    return pods_.of({set.meta.ns, set.meta.uid});
  }
  void look_at(const QueueKey& set);  // it has changed
  bool idle() const { return runner_.idle(); }

 private:
  void pods_changed(const QueueKey& set, bool complete);
  Plan plan_for(const QueueKey& key) const;

  Uses uses_;
  Gates gates_;
  Cache<Signal> signals_;
  BarrierPods pods_;
  Runner runner_;
};

}  // namespace muster::controllers::jobset
