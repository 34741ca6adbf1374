// Startup, readiness and liveness probes of running containers, one worker per container and kind.
//
// Used on one loop. Knows nothing of pods' lives: it is told which runs there are, and tells
// results. Until its first verdict a run with a startup probe has not started, and one with a
// readiness probe is not ready (unless the target says otherwise); without a probe it is both.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/probes/attempt.h"
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
  // Of a run that an earlier agent started: what the pod's status says. It holds until probes find
  // otherwise, and the first of them come at a moment of the period that differs from run to run.
  bool was_started = false;
  bool was_ready = false;
};

// Callbacks may add and remove runs.
struct ProbeEvents {
  // A verdict was reached or has changed (thresholds applied): readiness and startup true or false,
  // liveness false once. After a failed startup or liveness probe the run is left alone.
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

  // The httpGet of a lifecycle hook: any answer is success. An address that was to be asked over
  // TLS and answers in plain text is asked again without, and without Authorization; `fallback` is
  // then the message of the Warning event LifecycleHTTPFallback. A timeout of zero is none.
  struct HookOutcome {
    Status status;
    std::string fallback;
  };
  using HookDone = std::move_only_function<void(HookOutcome)>;
  virtual std::unique_ptr<Attempt> http_hook(json::Value http_get, const ProbeTarget& target,
                                             Duration timeout, HookDone done) = 0;
};

}  // namespace muster::agent
