// This machine as the node, or the nodes, of the embedded engine: process runtime, names and agent
// joined.
#pragma once

#include <memory>
#include <string>

#include "agent/exec/pod_programs.h"
#include "agent/logs/log_reader.h"
#include "agent/node_object.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/transport.h"
#include "engine/pod_policy.h"

namespace muster::engine {

struct LocalNodeOptions {
  std::string data_dir;
  agent::NodeOptions nodes;
  PodPolicy pods;
  bool leave_nothing = false;  // no process of a pod outlives the node
  // The API server, as pods reach it.
  std::string ca_pem;
  std::string api_host;
  std::uint16_t api_port = 0;
};

class LocalNode {
 public:
  // The references outlive it. Takes pods from the moment the loop runs.
  static Result<std::unique_ptr<LocalNode>> start(Loop& loop, client::Transport& transport,
                                                  agent::LogReader& logs,
                                                  agent::PodPrograms& programs,
                                                  LocalNodeOptions options);
  // With leave_nothing it runs the loop until every process has ended; else pods go on.
  virtual ~LocalNode() = default;
};

}  // namespace muster::engine
