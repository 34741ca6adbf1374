// The node: runs the pods that are bound to it as processes of this machine and reports their
// state. One agent may stand for several nodes (docs/agent.md).
//
// Used on the client's loop. Pods outlive it: whoever starts with the same directory next adopts
// them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/devices.h"
#include "agent/disposal.h"
#include "agent/gate_files.h"
#include "agent/node_keeper.h"
#include "agent/node_services.h"
#include "agent/pod_driver.h"
#include "agent/pod_requests.h"
#include "base/lifetime.h"
#include "client/informer.h"

namespace muster::agent {

struct AgentOptions {
  NodeOptions nodes;
  MachineFacts facts;
  std::string data_directory;
  std::vector<std::string> environment;  // what every process gets, whoever it runs as, NAME=value
  // For pods that have a token: how to reach the API server.
  std::vector<std::string> api_environment;
  std::string ca_pem;
  Identity identity;
  // Of JobSets that have one of their own each; null: all pods run as the identity's. Outlives the
  // agent.
  UserBook* users = nullptr;
  std::int64_t job_set_processes = 0;           // of each such user, at most; 0: any number
  std::vector<std::string> host_paths = {"/"};  // prefixes that hostPath volumes may name
  // Folders of the server, canonical, that pods find empty and no hostPath may name.
  std::vector<std::string> hidden = {};
  Images images;
  std::int64_t pod_processes = 0;  // of each pod, at most; 0: any number
  bool hide_gpus = true;           // from pods that ask for none
  BackoffOptions backoff;
  PortUsers::Ask port_users = port_users_of_this_machine;
  // The log of a run is written from now on, or is complete.
  std::function<void(const LogKey&)> log_began = [](const LogKey&) {};
  std::function<void(const LogKey&)> log_ended = [](const LogKey&) {};
  // Every run that was there before this agent has been told.
  std::function<void()> logs_known = [] {};
};

class Agent {
 public:
  // References outlive the agent.
  Agent(client::Client& client, const api::Registry& registry, runtime::Runtime& runtime,
        Names& names, AgentOptions options);
  ~Agent();
  Agent(const Agent&) = delete;

  void start();  // registers its nodes, adopts what runs, then takes its pods

  // Kills everything that runs, and forgets the pods; `done` when nothing of them is left. Objects
  // stay as they are. The agent does nothing any more after that.
  void kill_everything(Task done);

  // The run of this container that runs now.
  std::optional<runtime::RunId> running(const std::string& uid, std::string_view container) const;

 private:
  struct Node {
    explicit Node(std::vector<std::string> gpus) : devices(std::move(gpus)) {}
    std::unique_ptr<NodeKeeper> keeper;
    std::unique_ptr<controllers::EventRecorder> events;
    std::unique_ptr<NodeServices> services;
    Devices devices;
    Amounts used;
  };
  struct Held {  // what a pod takes of its node
    Node* node;
    Amounts amounts;
  };

  void make_node(NodeShare share);
  void begin_if_all_is_known();
  void begin();
  void changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void take(const client::ObjectPtr& object);
  void take_new(Node& node, PodDriver& driver, const Amounts& wants);
  void forget(const client::ObjectPtr& object);
  void object_changed(const Reference& reference, const client::ObjectPtr& gone);
  void run_changed(const runtime::RunState& state);
  void named(const PodView& pod, bool known);
  void released(const std::string& uid);
  void retired(const std::string& uid, bool object_gone);
  void dispose(const std::string& ns, const std::string& name, const std::string& uid);
  void end_orphans();
  void end_orphan(const runtime::Runtime::Adopted& orphan);
  void orphan_run_ended(const runtime::RunId& run);
  void tell_if_all_is_gone();
  void remove_unknown_folders();

  client::Client& client_;
  runtime::Runtime& runtime_;
  Names& names_;
  const AgentOptions options_;
  const Paths paths_;
  const api::Resource& pods_kind_;
  const api::Registry& registry_;
  json::Arena arena_;
  ObjectCache objects_;
  GateFiles gates_;
  MessageFiles messages_;
  PortUsers port_users_;
  Disposal disposal_;
  std::unique_ptr<Prober> prober_;
  std::map<std::string, std::unique_ptr<Node>> nodes_;
  client::Informer pods_;

  std::optional<std::map<std::string, runtime::Runtime::Adopted>> adopted_;  // by uid
  bool objects_known_ = false, pods_known_ = false, began_ = false;
  std::map<std::string, std::unique_ptr<PodDriver>> drivers_;  // by uid
  std::map<std::string, Held> held_;                           // by uid
  std::map<Reference, std::set<std::string>> wanted_by_;       // uids
  std::map<Reference, std::set<std::string>> hosts_;           // uids of the pods with that name
  std::map<std::string, std::set<runtime::RunId>> orphans_;    // by uid: runs that still live
  int removals_ = 0;                                           // of orphans, under way
  bool closing_ = false;
  Task when_all_is_gone_;
  Lifetime lifetime_;
};

}  // namespace muster::agent
