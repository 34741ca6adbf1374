// Spans of time as people type them. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster::cli {

// "90", "90s", "1m30s", "2h", "500ms"; seconds if no unit is named.
Result<Duration> parse_duration(std::string_view text, std::string_view flag);

}  // namespace muster::cli
