// Whole numbers in text: labels, annotations, flags.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace muster {

// Decimal, with a minus sign at most; nothing if the text is anything more or less than a number
// that fits.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace muster
