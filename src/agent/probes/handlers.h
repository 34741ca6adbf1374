// Executes what a probe asks for.
#pragma once

#include <memory>

#include "agent/probes/attempt.h"
#include "agent/probes/prober.h"
#include "base/loop.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

// Made by a Handlers, gone before it.
class Handlers {
 public:
  virtual ~Handlers() = default;
  virtual std::unique_ptr<Attempt> start(const ProbeTarget& target, json::Value probe,
                                         ProbeDone done) = 0;
  virtual std::unique_ptr<Attempt> start_hook(json::Value http_get, const ProbeTarget& target,
                                              Duration timeout, Prober::HookDone done) = 0;
};

std::unique_ptr<Handlers> make_handlers(Loop& loop, runtime::Runtime& runtime);

// A prober over any handlers.
std::unique_ptr<Prober> make_prober(Loop& loop, std::unique_ptr<Handlers> handlers,
                                    ProbeEvents events);

}  // namespace muster::agent
