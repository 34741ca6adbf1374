// Everything that the runtime needs to run a container once.
#pragma once

#include <string>

#include "agent/inputs/volumes.h"
#include "agent/paths.h"
#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

// Whom processes of this agent may run as.
struct Identity {
  std::uint32_t uid = 0;                  // of the agent itself; 0 may become anybody
  std::optional<runtime::User> pod_user;  // of pods that ask for none, if the agent is root
};

struct RunRequest {
  json::Value pod;
  json::Value container;
  int number = 0;
  std::string gate;  // empty: executed at once
};

// Errors are those of waiting.reason CreateContainerConfigError, with its message.
Result<runtime::RunSpec> make_run_spec(const RunRequest& request, const PodFacts& facts,
                                       const Objects& objects, const VolumeRoot& root,
                                       const Paths& paths, const Identity& identity);

// securityContext; empty: the configured one.
Result<std::optional<runtime::User>> user_of(json::Value pod, json::Value container,
                                             const Identity& identity);

}  // namespace muster::agent
