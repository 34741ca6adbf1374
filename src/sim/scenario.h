// A scenario: objects, how their pods behave, and what happens to them on the way. A short YAML
// file that reads as a story and runs on every engine (docs/simulation.md):
//
//   nodes: 4
//   featureGates: RestartJob=true
//   objects: [ … manifests … ]
//   pods:                        # the first rule that matches a pod's labels
//   - match: {jobset.sigs.k8s.io/replicatedjob-name: driver, jobset.sigs.k8s.io/restart-attempt:
//   "0"}
//     outcome: fail              # succeed, fail, run (ready, never ends), hang (never ready)
//     after: 2s                  # from ready to the end
//     exitCode: 3
//   - outcome: succeed
//   steps:
//   - after: 5s                  # since the step before
//     patch: {kind: JobSet, name: train, with: {spec: {suspend: true}}}
//   - after: 3s
//     delete: {kind: Pod, name: x, propagation: Foreground}
//   - create: { … manifest … }
//   - loseNode: node-1
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"

namespace muster::sim {

enum class Outcome : std::uint8_t { kSucceed, kFail, kRun, kHang };

struct PodRule {
  std::vector<std::pair<std::string, std::string>> match;  // labels; empty matches every pod
  Outcome outcome = Outcome::kSucceed;
  Duration after = std::chrono::seconds(1);
  int exit_code = 1;  // of kFail
};

struct ScenarioStep {
  Duration after{};
  client::Operation operation;  // without a resource: the node `lost_node` goes
  std::string lost_node;
};

// A scenario with n nodes has those of the indexes 0 to n-1.
std::string node_name(int index);

struct Scenario {
  std::string name;
  std::string feature_gates;  // "A=true,B=false"
  int nodes = 4;
  std::vector<client::Operation> objects;
  std::vector<PodRule> pods;
  std::vector<ScenarioStep> steps;
  Duration horizon =
      std::chrono::minutes(30);  // of virtual time; it must have come to rest by then
};

// Fails naming what is not understood, with line and column where it is known.
Result<Scenario> parse_scenario(std::string_view name, std::string_view yaml);

}  // namespace muster::sim
