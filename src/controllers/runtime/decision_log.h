// The newest decisions of all controllers, for `muster why` and bug reports. Bounded: old ones go.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/work_queue.h"

namespace muster::controllers {

struct Decision {
  Time at;
  std::string controller;
  client::QueueKey key;
  std::string seen;  // how far each source had been read: "jobsets@41 jobs@40"
  std::string plan;  // Plan::text()
};

class DecisionLog {
 public:
  static constexpr std::size_t kMax = 4'096;

  // A plan that says what the same controller's last one for this key said is not kept again.
  void add(Decision decision);
  const std::deque<Decision>& all() const { return decisions_; }  // oldest first
  std::vector<const Decision*> about(const client::QueueKey& key) const;

 private:
  std::deque<Decision> decisions_;
};

}  // namespace muster::controllers
