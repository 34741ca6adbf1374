// Whole numbers in text: labels, annotations, flags, files of the kernel.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace muster {

// With a minus sign at most, and in hexadecimal without any prefix; nothing if the text is anything
// more or less than a number that fits.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number, base);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace muster
