// What the pods of a node share, and what they ask of the agent.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "agent/gate_files.h"
#include "agent/inputs/names.h"
#include "agent/lifecycle/restart.h"
#include "agent/logs/log_file.h"
#include "agent/message_files.h"
#include "agent/object_cache.h"
#include "agent/paths.h"
#include "agent/probes/prober.h"
#include "agent/run_spec.h"
#include "agent/taken_port.h"
#include "agent/user_book.h"
#include "client/client.h"
#include "controllers/runtime/events.h"
#include "runtime/runtime.h"

namespace muster::agent {

struct NodeServices {
  client::Client& client;
  const api::Resource& pods;
  const api::Resource& accounts;
  runtime::Runtime& runtime;
  Names& names;
  Prober& prober;
  ObjectCache& objects;
  GateFiles& gates;  // of barriers, shared by all pods of a gang
  MessageFiles& messages;
  PortUsers& port_users;
  controllers::EventRecorder& events;
  Paths paths;
  Identity identity;
  UserBook* users = nullptr;           // null: all pods have the identity's user
  std::int64_t job_set_processes = 0;  // of each such user, at most; 0: any number
  VolumePolicy volumes;
  Images images;
  std::int64_t pod_processes = 0;  // of each pod, at most; 0: any number
  bool hide_gpus = true;           // from pods that ask for none
  std::vector<int> gpu_majors;     // of their device files
  BackoffOptions backoff;
  std::string node_name;
  std::string host_ip;
  json::Value allocatable;
  std::vector<std::string> environment;      // NAME=value that every process gets
  std::vector<std::string> api_environment;  // and those of pods that have a token

  std::set<std::string> warned_owners;  // uids of owners (a Job) of pods; bounded

  std::function<void(const LogKey&)> log_began, log_ended;
  // The pod's name is known from now on, or is not any more.
  std::function<void(const PodView& pod, bool known)> named;
  std::function<bool(const std::string& ns, const std::string& host)> is_named;
  // No process of it lives any more: its room and devices are free.
  std::function<void(const std::string& uid)> released;
  // Nothing is left to do for it; the driver may go when the caller is done. `object_gone`: its
  // folders may go, too.
  std::function<void(const std::string& uid, bool object_gone)> retired;
};

}  // namespace muster::agent
