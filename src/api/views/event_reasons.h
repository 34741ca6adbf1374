// Reasons of events about pods that others than people read: `muster run` says what they say.
#pragma once

#include <string_view>

namespace muster::api {

// What a pod asks for and does not get on this machine; it runs all the same.
inline constexpr std::string_view kImageIgnored = "ImageIgnored";
inline constexpr std::string_view kLimitsNotEnforced = "LimitsNotEnforced";

}  // namespace muster::api
