// The process that owns one pod: parent of its runs, reader of their output, recorder of their
// ends. It outlives agents and keepers; when it dies, all processes of the pod die with it.
#pragma once

#include <string>

#include "base/unique_fd.h"
#include "runtime/cgroups.h"
#include "runtime/journal.h"
#include "runtime/launch.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// What is the keeper's stays where it is: a copy would touch memory that the two share so far.
struct ShimSpec {
  const PodSpec& pod;
  bool is_new;                // nothing of earlier runs is in its journal
  const std::string& folder;  // of journals, and where it listens for later agents
  Namespaces namespaces;
  const Cgroups& cgroups;
  std::uint64_t seed;  // of container ids
};

// For a fresh child of the keeper. The first agent is at the other end of `agent`; every agent
// hears of all runs first, or of why there is no shim. While there is no agent the shim listens for
// one, in its folder.
[[noreturn]] void run_shim(const ShimSpec& spec, Journal journal, UniqueFd agent);

std::string shim_socket_name(const std::string& pod_uid);

}  // namespace muster::runtime
