// Threads, of which a user may have too few left.
#pragma once

#include <thread>

#include "base/loop.h"
#include "base/result.h"

namespace muster {

// kUnavailable, with what to do about it, if the system gives us none.
Result<std::thread> start_thread(Task body);

}  // namespace muster
