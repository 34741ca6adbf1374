// One run of a scenario on the simulated engine: virtual time, the real API server and controllers,
// pretended nodes, and faults.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/faults.h"
#include "sim/scenario.h"

namespace muster::sim {

// Where the controllers' informers read from (client/source.h).
enum class Reads : std::uint8_t { kListWatch, kFeed };

struct RunOptions {
  std::uint64_t seed = 1;
  Reads reads = Reads::kListWatch;
  FaultRates rates;  // until the last step and `faults_for` are over
  Duration faults_for = std::chrono::minutes(1);
  std::optional<CrashPoint> crash_point;
};

struct ProcessRun {
  std::string name;
  std::size_t writes = 0;
  int lives = 1;
};

struct Run {
  int lives() const;                // of all processes
  std::string state;                // canonical end state
  std::string objects;              // a v1 List of what is left, as JSON
  std::string hash;                 // of the whole history: the same seed gives the same
  std::vector<std::string> writes;  // of the controllers, in order; by whom if there are several
  std::vector<ProcessRun> processes;
  std::vector<std::string> violations;  // of the invariants, and not coming to rest
  Duration took{};                      // virtual
};

Result<Run> run_scenario(const Scenario& scenario, const RunOptions& options);

}  // namespace muster::sim
