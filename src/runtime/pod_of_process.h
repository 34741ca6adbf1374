// To which pod a process belongs: of this runtime, or of another one of the same user on this
// machine.
#pragma once

#include <sys/types.h>

#include <optional>

#include "runtime/runtime.h"

namespace muster::runtime {

// Nothing if it is of no pod, has ended or may not be looked at.
std::optional<PodSpec> pod_of_process(pid_t pid);

}  // namespace muster::runtime
