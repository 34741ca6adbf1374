// A cluster without machines: the real API server over a store in memory, in virtual time.
//
// Everything happens on one loop, so a run is a function of its inputs: the same scenario and seed
// give the same history, revision by revision.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/feature_gates.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "client/client.h"
#include "server/api_server.h"
#include "store/store.h"

namespace muster::sim {

class World {
 public:
  World(std::uint64_t seed, const admission::FeatureGates& gates);

  VirtualLoop& loop() { return *loop_; }
  Time now() const { return loop_->clock().now(); }
  store::Store& store() { return *store_; }
  Metrics& metrics() { return metrics_; }
  client::Transport& transport() { return *transport_; }  // reliable, as admin

  // Asks the server and runs the loop until the answer is there.
  Result<std::string> write(const client::Operation& operation);
  // Every object of a kind, in the order of "namespace/name".
  std::vector<store::ObjectPtr> objects(const api::Resource& resource) const;

 private:
  Metrics metrics_;
  std::unique_ptr<VirtualLoop> loop_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::ApiServer> server_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace muster::sim
