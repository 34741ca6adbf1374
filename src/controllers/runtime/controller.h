// What every controller is given, and what is asked of it.
#pragma once

#include "admission/feature_gates.h"
#include "api/schema/registry.h"
#include "base/metrics.h"
#include "client/client.h"
#include "controllers/runtime/barrier_program.h"
#include "controllers/runtime/decision_log.h"
#include "controllers/runtime/going.h"
#include "controllers/runtime/informers.h"
#include "controllers/runtime/job_limits.h"
#include "controllers/runtime/port_is_free.h"

namespace muster::controllers {

// Shared by all controllers of one engine; outlives them.
struct Shared {
  client::Client& client;
  const api::Registry& registry;
  Informers& informers;
  DecisionLog& decisions;
  Metrics& metrics;
  admission::FeatureGates gates;
  BarrierProgram barrier_program = {};
  PortIsFree port_is_free = {};
  JobLimits job_limits = {};
  PodLimits pod_limits = {};
  Going* going = nullptr;  // null: nobody looks
};

// Made with a Shared, before its informers start; works by itself from then on.
class Controller {
 public:
  virtual ~Controller() = default;
  virtual bool idle() const = 0;  // no key is waiting or worked on
};

}  // namespace muster::controllers
