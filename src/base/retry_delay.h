// How long to wait before the next try of what has failed: twice as long after each failure.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace muster {

// `failures` counts those before the one that has just been met.
constexpr Duration retry_delay(Duration first, Duration longest, int failures) {
  Duration delay = first;
  for (; failures > 0 && delay < longest; --failures) delay *= 2;
  return std::min(delay, longest);
}

}  // namespace muster
