// The controllers that somebody wants, joined: the same on every engine.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "admission/feature_gates.h"
#include "base/metrics.h"
#include "client/client.h"
#include "controllers/runtime/barrier_program.h"
#include "controllers/runtime/decision_log.h"
#include "controllers/runtime/job_limits.h"
#include "controllers/runtime/port_is_free.h"

namespace muster::controllers {

struct SetOptions {
  // By name. With "agent" claims are bound to folders of this machine; names that are none of these
  // controllers change nothing.
  std::set<std::string, std::less<>> wanted;
  admission::FeatureGates gates;
  BarrierProgram barrier_program = {};
  JobLimits job_limits = {};
  PodLimits pod_limits = {};
  PortIsFree port_is_free = {};  // of the machine whose ports all pods share, if they do
};

// They list, watch and write through the client, on its loop, from the moment they are made. The
// client and the metrics must outlive them.
class ControllerSet {
 public:
  static std::unique_ptr<ControllerSet> make(client::Client& client, const api::Registry& registry,
                                             Metrics& metrics, SetOptions options);
  virtual ~ControllerSet() = default;
  static const std::set<std::string, std::less<>>&
  names();  // of all that there are, and of the node's agent

  virtual bool idle() const = 0;  // no key is waiting or worked on
  virtual const DecisionLog& decisions() const = 0;
};

}  // namespace muster::controllers
