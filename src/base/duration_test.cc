#include "base/duration.h"

#include <gtest/gtest.h>

namespace muster {
namespace duration_test {

using namespace std::chrono_literals;

TEST(Durations, AreSumsOfAmountsWithUnits) {
  const std::vector<std::pair<std::string_view, Duration>> rows = {
      {"0s", 0s},       {"90s", 90s},    {"1m30s", 90s},  {"2h", 2h},
      {"500ms", 500ms}, {"1.5h", 90min}, {"0.1s", 100ms}, {"1h2m3.5s", 1h + 2min + 3500ms},
      {"2d", 48h}};
  for (const auto& [text, span] : rows) EXPECT_EQ(parse_duration(text), span) << text;
}

TEST(Durations, AreNothingElse) {
  for (const std::string_view text :
       {"", "s", "90", "1m30", "-1s", "+1s", "1x", "1e3s", "1 s", "1.2.3s", ".s", "infs", "nans",
        "1000000000d", "99999999999999999999h"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Durations, ArePrintedAsGoDoes) {
  const std::vector<std::pair<Duration, std::string_view>> rows = {
      {0s, "0s"},     {250ms, "250ms"},        {10s, "10s"},     {80s, "1m20s"},
      {5min, "5m0s"}, {90min + 1s, "1h30m1s"}, {1500ms, "1.5s"}, {1h, "1h0m0s"}};
  for (const auto& [span, text] : rows) EXPECT_EQ(duration_text(span), text);
}

}  // namespace duration_test
}  // namespace muster
