// The processes of the control plane as a scenario divides it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/place.h"

namespace muster::sim {

// One process, or several of which one leads.
struct ProcessSpec {
  std::string name;
  std::set<std::string, std::less<>> controllers;
  int replicas = 1;
  bool elects_leader = false;
};

// One process with all controllers, unless the scenario says otherwise.
Result<std::vector<ProcessSpec>> read_processes(const Place& place);

}  // namespace muster::sim
