// Counts what came of JobSets (spec: jobset 5.4): when it has been written, because what is only
// planned may be refused, and would be counted twice.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/views/views.h"
#include "base/metrics.h"
#include "client/work_queue.h"

namespace muster::controllers::jobset {

class Progress {
 public:
  explicit Progress(Metrics& metrics) : metrics_(metrics) {}

  // What the plan that is now under way for this set will have changed.
  void planned(const client::QueueKey& key, const api::JobSet& set, const api::JobSetStatus& after,
               Time now);
  void carried_out(const client::QueueKey& key);
  // The set is gone, and with it what was counted under its name.
  void gone(const client::QueueKey& key);

 private:
  struct Change {
    std::string terminal_state;
    int restarts = 0;
    std::optional<Duration> ready_after;  // creation
  };

  Metrics& metrics_;
  std::map<client::QueueKey, Change> changes_;
  std::set<client::QueueKey> starting_;  // seen from their beginning, and not ready yet
};

}  // namespace muster::controllers::jobset
