#include "base/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace muster {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array<Unit, 5> kUnits = {{{"ms", std::chrono::milliseconds(1)},
                                         {"s", std::chrono::seconds(1)},
                                         {"m", std::chrono::minutes(1)},
                                         {"h", std::chrono::hours(1)},
                                         {"d", std::chrono::days(1)}}};
// Far from what cannot be counted in microseconds, and from what anybody means.
constexpr double kLongest = static_cast<double>(Duration(std::chrono::years(100)).count());
constexpr std::string_view kDigits = "0123456789.";

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    // Digits only: std::from_chars would take signs, "inf" and "nan" as well.
    const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
    double amount = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
    if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    text.remove_prefix(digits.size());
    const std::string_view name = text.substr(0, text.find_first_of(kDigits));
    const auto* const unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(name.size());
    sum += amount * static_cast<double>(unit->length.count());
    if (sum > kLongest) return std::nullopt;
  }
  return Duration(std::llround(sum));
}

std::string duration_text(Duration duration) {
  using std::chrono::milliseconds;
  const auto millis = std::chrono::duration_cast<milliseconds>(duration).count();
  if (millis < 1000) return millis == 0 ? "0s" : fmt::format("{}ms", millis);
  const auto seconds = millis / 1000, fraction = millis % 1000;
  std::string text;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  text += fmt::format("{}", seconds % 60);
  if (fraction != 0) {
    std::string digits = fmt::format("{:03}", fraction);
    while (digits.back() == '0') digits.pop_back();
    text += "." + digits;
  }
  return text + "s";
}

}  // namespace muster
