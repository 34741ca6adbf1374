// The command line and the environment of a container, with all its variables filled in. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/inputs/objects.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::agent {

// What the node knows about a pod that its object may not say yet.
struct PodFacts {
  std::string node_name;
  std::string host_ip;
  std::string pod_ip;
  std::string hostname;                // HOSTNAME
  json::Value node_allocatable;        // resourceFieldRef without a limit
  std::vector<std::string> inherited;  // NAME=value that every process gets (PATH, HOME …)
  std::vector<std::string> devices;    // NAME=value for what this container was given (GPUs)
};

struct CommandLine {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string working_directory;
};

// An error's message is that of waiting.message with the reason CreateContainerConfigError
// (pod-lifecycle 1.5, 4.1): it may be gone when an object appears.
Result<CommandLine> command_line(json::Value pod, json::Value container, const PodFacts& facts,
                                 const Objects& objects);

// As exec probes and hooks see it: only literal values are expanded.
std::vector<std::string> probe_command(json::Value container, json::Value command);

}  // namespace muster::agent
