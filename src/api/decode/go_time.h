// Times as Go's time.Parse reads them, with its messages: clients see these words when a time is
// malformed.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::api {

enum class TimeLayout : std::uint8_t {
  kSeconds,  // RFC 3339; a fraction is accepted and cut
  kMicros,   // RFC 3339 with exactly six decimals
};

// On failure: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`.
std::expected<Time, std::string> parse_go_time(std::string_view text, TimeLayout layout);

}  // namespace muster::api
