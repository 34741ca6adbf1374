// The embedded engine: store, API server, controllers, scheduler and agent joined in one process.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/feature_gates.h"
#include "agent/node_object.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/client.h"
#include "controllers/runtime/job_limits.h"
#include "engine/pod_policy.h"

namespace muster::engine {

struct EngineOptions {
  std::string data_dir;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;          // 0: any free one
  std::vector<std::string> names;  // further names and addresses that clients may use
  std::string kubeconfig_file;     // empty: kubeconfig in the data directory
  std::set<std::string, std::less<>> controllers;
  admission::FeatureGates gates;
  controllers::JobLimits job_limits = {};
  controllers::PodLimits pod_limits = {};
  agent::NodeOptions nodes;    // what stands for this machine
  PodPolicy pods;              // and the user, rights and limits of its pods
  bool leave_nothing = false;  // no process of a pod outlives the engine
  bool keep_objects = true;    // on disk; false: nobody will look for them in the directory
};

class Engine {
 public:
  // Serving when it returns. Controllers run on loop(), which the caller runs.
  static Result<std::unique_ptr<Engine>> start(EngineOptions options);
  // Stops: no request is answered any more. Pods go on and are adopted by the next engine of the
  // same directory, unless it was told to leave nothing.
  virtual ~Engine() = default;

  virtual Loop& loop() = 0;
  virtual const std::string& url() const = 0;
  virtual const std::string& kubeconfig_file() const = 0;
  virtual client::Transport& transport() = 0;  // in-process, as admin
};

}  // namespace muster::engine
