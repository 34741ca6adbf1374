// What `kubectl drain --force` does: it cordons a node, then evicts the pods that it finds there,
// and asks again where a disruption budget does not allow it yet.
#pragma once

#include <string>

#include "sim/world.h"

namespace muster::sim {

class Drain {
 public:
  // Both outlive it.
  Drain(World& world, client::Client& client);
  Drain(const Drain&) = delete;

  Status start(const std::string& node);  // not from a task of the loop
  // Pods that have not been evicted yet.
  int waiting() const { return waiting_; }

 private:
  static constexpr Duration kRetry = std::chrono::seconds(5);  // as kubectl

  void evict(const std::string& ns, const std::string& name);

  World& world_;
  client::Client& client_;
  const api::Resource& pods_;
  int waiting_ = 0;
};

}  // namespace muster::sim
