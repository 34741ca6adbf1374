// Everything that the runtime needs to run a container once.
#pragma once

#include <string>

#include "agent/identity.h"
#include "agent/inputs/images.h"
#include "agent/inputs/volumes.h"
#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct RunRequest {
  json::Value pod;
  json::Value container;
  int number = 0;
  std::string log_file;
  std::string message_file;      // for its last words
  std::string gate;              // empty: executed at once
  const Image* image = nullptr;  // null: it runs programs of the machine
  std::string oci_program = {};  // with an image
  // Mounted unless the container has something there, or above; read-only if its root is.
  std::vector<runtime::Mount> folders = {};
  std::int64_t user_processes = 0;  // of the node's user for this pod, at most; 0: any number
};

// Errors are those of waiting.reason CreateContainerConfigError, with its message.
Result<runtime::RunSpec> make_run_spec(const RunRequest& request, const PodFacts& facts,
                                       const Objects& objects, const VolumeRoot& root,
                                       const Identity& identity);

}  // namespace muster::agent
