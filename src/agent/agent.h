// The node: registers itself, runs the pods that are bound to it as local processes, reports their
// state.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/file_logs.h"
#include "agent/pod_status.h"
#include "agent/process.h"
#include "client/informer.h"
#include "json/value.h"

namespace muster::agent {

struct AgentOptions {
  std::string node_name;
  std::vector<std::string> environment;  // what every process gets, NAME=value
};

class Agent {
 public:
  // `logs` outlives the agent.
  Agent(client::Client& client, const api::Registry& registry, FileLogs& logs,
        AgentOptions options);
  ~Agent();

  void start();  // registers the node, then takes its pods

 private:
  class Pod;

  void register_node();
  void changed(const client::ObjectPtr& before, const client::ObjectPtr& after);

  client::Client& client_;
  FileLogs& logs_;
  const api::Resource& pods_kind_;
  const api::Resource& nodes_kind_;
  AgentOptions options_;
  client::Informer pods_;
  std::map<std::string, std::unique_ptr<Pod>> pods_by_uid_;
};

}  // namespace muster::agent
