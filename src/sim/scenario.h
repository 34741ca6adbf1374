// A scenario: objects, how their pods behave, and what happens to them on the way. A short YAML
// file that reads as a story and runs on every engine (docs/simulation.md):
//
//   nodes:                       # or a number of alike ones
//   - {count: 2, prefix: big, labels: {size: big}, allocatable: {cpu: "128"}}
//   featureGates: RestartJob=true
//   processes:                   # of the control plane; each fails by itself
//   - {name: scheduler, runs: [scheduler]}
//   - {name: controllers, replicas: 2}
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
//   - drain: big-0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/registry.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "sim/process_spec.h"

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
  // Adding, cordoning and resizing nodes are writes as well.
  std::vector<client::Operation> writes;
  std::string lost_node;
  std::string drained_node;
};

struct Scenario {
  std::string name;
  std::string feature_gates;  // "A=true,B=false"
  std::vector<client::Operation> nodes;
  std::vector<ProcessSpec> processes;
  std::vector<client::Operation> objects;
  std::vector<PodRule> pods;
  std::vector<ScenarioStep> steps;
  std::vector<const api::Resource*> compared;  // the kinds that make up its end state
  Duration horizon =
      std::chrono::minutes(30);  // of virtual time; it must have come to rest by then
};

// Fails with a message that says in which line what is not understood.
Result<Scenario> parse_scenario(std::string_view name, std::string_view yaml);

}  // namespace muster::sim
