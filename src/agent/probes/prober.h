// Startup, readiness and liveness probes of running containers, one worker per container and kind.
//
// Used on one loop. Knows nothing of pods' lives: it is told which runs there are, and tells
// results.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

enum class ProbeKind : std::uint8_t { kStartup, kReadiness, kLiveness };

struct ProbeTarget {
  runtime::RunId run;
  std::string pod_ip;
  Time started{};
  json::Value container;  // of the pod spec: its probes, ports and literal env; copied
};

struct ProbeEvents {
  // A verdict was reached or has changed (thresholds applied): readiness and startup true or false,
  // liveness false once.
  std::function<void(const runtime::RunId&, ProbeKind, bool success)> verdict;
  // For the pod's events: Warning Unhealthy or ProbeWarning, with its message.
  std::function<void(const runtime::RunId&, std::string reason, std::string message)> event;
};

class Prober {
 public:
  static std::unique_ptr<Prober> make(Loop& loop, runtime::Runtime& runtime, ProbeEvents events);
  virtual ~Prober() = default;

  // Starts the workers of a run. Startup comes first; the others wait for it.
  virtual void add(const ProbeTarget& target) = 0;
  virtual void remove(const runtime::RunId& run) = 0;           // it has ended
  virtual void only_readiness(const std::string& pod_uid) = 0;  // the pod is being deleted
};

}  // namespace muster::agent
