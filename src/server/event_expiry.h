// Events live for an hour after their last change (upstream: --event-ttl). There is no timer: old
// ones are removed when somebody asks for events or writes one, at most once a minute.
#pragma once

#include <atomic>

#include "api/schema/registry.h"
#include "base/time.h"
#include "store/store.h"

namespace muster::server {

class EventExpiry {
 public:
  // Any thread. Submits the removal of what has expired, and does not wait for it.
  void sweep_if_due(store::Store& store, const api::Registry& registry, Time now);

 private:
  std::atomic<std::int64_t> next_sweep_{0};  // in microseconds since the epoch
};

}  // namespace muster::server
