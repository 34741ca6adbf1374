// Lifecycle hooks: exec, httpGet, sleep (pod-lifecycle 2.6).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/probes/prober.h"
#include "base/loop.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

class HookRun {
 public:
  virtual ~HookRun() = default;  // gives it up; `done` is not called any more
};

// `done` is called once, on the loop, not before this returns. `fallback`: see Prober::HookOutcome.
using HookDone = std::move_only_function<void(Status outcome, std::string fallback)>;
std::unique_ptr<HookRun> run_hook(Loop& loop, runtime::Runtime& runtime, Prober& prober,
                                  json::Value handler, const ProbeTarget& target, HookDone done);

}  // namespace muster::agent
