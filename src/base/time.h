// Points in time as the API knows them: UTC, RFC 3339.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;

std::string format_time(Time time);        // 2026-11-15T09:45:40Z, cut to seconds
std::string format_micro_time(Time time);  // 2026-11-15T09:45:40.000000Z

// Any zone and any fraction (cut to microseconds); nothing if the text is not RFC 3339.
std::optional<Time> parse_time(std::string_view text);

// "90s", "1m52s", "3h4m", "2d" and so on, by the rules of kubectl's AGE column.
std::string human_duration(Duration duration);

}  // namespace muster
