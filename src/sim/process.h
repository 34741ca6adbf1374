// One process of the control plane. It reads, decides and writes by itself, dies by itself, and
// comes back with nothing but its name. Replicas hold a lease in turns; the others wait.
#pragma once

#include <memory>
#include <string>

#include "admission/feature_gates.h"
#include "client/leader_election.h"
#include "controllers/set/controllers.h"
#include "sim/faults.h"
#include "sim/process_spec.h"
#include "sim/world.h"

namespace muster::sim {

class Process {
 public:
  struct Options {
    std::string name;  // of this replica
    std::uint64_t seed = 1;
    admission::FeatureGates gates;
    bool reads_feed = false;
  };
  // The world and the spec outlive it.
  Process(World& world, const ProcessSpec& spec, Options options);
  Process(const Process&) = delete;

  void start();

  const std::string& name() const { return options_.name; }
  FaultState& faults() { return faults_; }
  int lives() const { return lives_; }

 private:
  void run_for_leader();
  void lead(client::Client& client);
  void died();

  World& world_;
  const ProcessSpec& spec_;
  Options options_;
  FaultState faults_;
  int lives_ = 1;
  // What one life consists of.
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::LeaderElection> election_;
  std::unique_ptr<client::Transport> leader_transport_;
  std::unique_ptr<client::Client> leader_client_;
  std::unique_ptr<controllers::ControllerSet> controllers_;
};

}  // namespace muster::sim
