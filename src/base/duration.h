// Spans of time as people and Go programs write them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster {

// "90s", "1m30s", "1.5h", "500ms", "2d"; nothing if the text is anything else, or more than a
// century.
std::optional<Duration> parse_duration(std::string_view text);

// A number of seconds that a user asked for, cut to a century: more than anybody waits, and far
// from where the arithmetic of times ends.
inline constexpr std::int64_t kCenturySeconds = 100LL * 365 * 24 * 3600;
constexpr std::int64_t bounded_seconds(std::int64_t seconds) {
  return std::clamp(seconds, -kCenturySeconds, kCenturySeconds);
}

// As Go prints it, down to milliseconds: 10s, 1m20s, 5m0s, 250ms.
std::string duration_text(Duration duration);

}  // namespace muster
