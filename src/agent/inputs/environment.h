// The command line and the environment of a container, with all its variables filled in. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/inputs/images.h"
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
  const Image* image = nullptr;        // null: the machine itself stands for it
};

using Variables = std::map<std::string, std::string, std::less<>>;

struct CommandLine {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value, complete, each name once
  std::string working_directory;
  Variables variables;  // what $(NAME) stands for: only what the pod itself sets
};

// An error's message is that of waiting.message with the reason CreateContainerConfigError
// (pod-lifecycle 1.5, 4.1): it may be gone when an object appears. The pod's own variables win over
// HOSTNAME, devices, the image's and what is inherited. Code::kTooLarge: execve could never take it
// (limits.h), as the message says.
//
// Without an image `args` without a `command` are the whole command line; with one they are the
// arguments of its program, if it names one.
Result<CommandLine> command_line(json::Value pod, json::Value container, const PodFacts& facts,
                                 const Objects& objects);

// As exec probes see it: $(NAME) stands for the literal values of `env` as they are written.
// Commands of hooks are not expanded at all. Code::kTooLarge as above.
Result<std::vector<std::string>> probe_command(json::Value container, json::Value command);

}  // namespace muster::agent
