// What work costs, however busy the machine is.
#pragma once

#include "base/clock.h"

namespace muster {

// Processor time that the calling thread has used so far. Zero unless the clock is the system's:
// where time is virtual, nothing may depend on how fast the machine is.
Duration thread_time(const Clock& clock);

}  // namespace muster
