// The process that owns one pod: parent of its runs, reader of their output, recorder of their
// ends. It outlives agents and keepers; when it dies, all processes of the pod die with it.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "runtime/cgroups.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

namespace muster::runtime {

struct ShimSpec {
  PodSpec pod;
  std::string sockets;  // the folder in which it listens for later agents, as <uid>.sock
  Namespaces namespaces;
  Cgroups cgroups;
};

// For a fresh child of the keeper. The first agent is at the other end of `agent`; it hears of all
// runs first, or of why there is no shim.
[[noreturn]] void run_shim(const ShimSpec& spec, UniqueFd agent);

std::string shim_socket_name(const std::string& pod_uid);

}  // namespace muster::runtime
