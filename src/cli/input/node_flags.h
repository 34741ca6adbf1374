// The flags that say what stands for this machine: --nodes, --node-label … Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/node_object.h"
#include "base/result.h"
#include "cli/verbs/verb.h"
#include "engine/pod_policy.h"

namespace muster::cli {

struct NodeFlags {
  std::int64_t nodes = 0;
  std::vector<std::string> labels;     // KEY=VALUE
  std::vector<std::string> resources;  // NAME=AMOUNT
  std::string pod_user;
  std::string pod_users;  // FIRST-LAST or kOneUser
  bool shared_tmp = false;
  std::int64_t job_set_processes = engine::PodPolicy::kHalfTheMachine;
  bool any_user = false;
  std::vector<std::string> host_paths;
  std::int64_t pod_processes = engine::PodPolicy::kUsualProcesses;
  bool all_gpus = false;
  std::string runtime = kProcessRuntime;
  std::vector<std::string> root_folders;  // [IMAGE=]DIR

  static constexpr const char* kProcessRuntime = "process";
  static constexpr const char* kOneUser = "none";
  bool has_images() const { return runtime != kProcessRuntime; }
};

// The rows of these flags behind `flags`.
std::vector<Flag> with_node_flags(NodeFlags& node, std::vector<Flag> flags);

Result<agent::NodeOptions> node_options(const NodeFlags& flags);
Result<engine::PodPolicy> pod_policy(const NodeFlags& flags);

}  // namespace muster::cli
