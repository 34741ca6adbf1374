// A pod's status from the state of its containers. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace muster::agent {

struct ContainerState {
  std::string name;
  std::string image;
  bool init = false;
  std::optional<Time> started;
  std::optional<Time> finished;
  int exit_code = 0;
  int signal = 0;
  std::string trouble;  // why it could not be started; counts as finished with code 128
};

struct PodState {
  Time started{};
  std::string host_ip;
  std::string pod_ip;
  std::vector<ContainerState> containers;  // init containers first
};

// Pending until the init containers are through, Running while a container runs, then Succeeded or
// Failed.
std::string phase(const PodState& state);

// The whole status, in the form in which it is stored. `before` is the status so far: transition
// times of conditions that did not change are kept.
json::Value pod_status(json::Arena& arena, const PodState& state, json::Value before, Time now);

}  // namespace muster::agent
