#include "cli/durations.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "cli/terminal_text.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMaxAmount = 1'000'000'000;

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array<Unit, 6> kUnits = {{{"ms", std::chrono::milliseconds(1)},
                                         {"s", std::chrono::seconds(1)},
                                         {"m", std::chrono::minutes(1)},
                                         {"h", std::chrono::hours(1)},
                                         {"d", std::chrono::hours(24)},
                                         {"", std::chrono::seconds(1)}}};

}  // namespace

Result<Duration> parse_duration(std::string_view text, std::string_view flag) {
  const auto refuse = [&] {
    return fail(Code::kInvalid, fmt::format("{}: \"{}\" is no span of time; 90s, 1m30s and 2h are",
                                            flag, plain_text(text)));
  };
  Duration sum{};
  std::string_view rest = text;
  if (rest.empty()) return refuse();
  while (!rest.empty()) {
    std::int64_t amount = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), amount);
    if (error != std::errc() || amount < 0 || amount > kMaxAmount) return refuse();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::size_t unit_end = std::min(rest.find_first_of("0123456789"), rest.size());
    const auto* const unit = std::ranges::find(kUnits, rest.substr(0, unit_end), &Unit::name);
    if (unit == kUnits.end()) return refuse();
    sum += amount * unit->length;
    rest.remove_prefix(unit_end);
  }
  return sum;
}

}  // namespace muster::cli
