// A probe that runs a command beside the container.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/probes/attempt.h"
#include "base/loop.h"
#include "runtime/runtime.h"

namespace muster::agent {

std::unique_ptr<Attempt> start_exec_probe(Loop& loop, runtime::Runtime& runtime,
                                          const runtime::ExecSpec& command,
                                          std::chrono::seconds timeout, ProbeDone done);

}  // namespace muster::agent
