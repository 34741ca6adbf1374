// Spans of time as people write them into objects: any number of seconds that 64 bits can hold.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace muster::controllers {

// At most a thousand years, which is for ever and can still be added to any time.
inline std::chrono::seconds span_of(std::int64_t seconds) {
  constexpr std::int64_t kForEver = std::int64_t{1000} * 365 * 86'400;
  return std::chrono::seconds(std::clamp(seconds, -kForEver, kForEver));
}

}  // namespace muster::controllers
