// Spans of time as people and Go programs write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace muster {

// "90s", "1m30s", "1.5h", "500ms", "2d"; nothing if the text is anything else, or more than a
// century.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace muster
