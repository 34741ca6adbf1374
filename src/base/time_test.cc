#include "base/time.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace time_test {

using namespace std::chrono_literals;

Time at(std::int64_t microseconds) { return Time(Duration(microseconds)); }

TEST(FormatTime, CutsToSeconds) {
  EXPECT_EQ(format_time(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_time(at(1'794'735'940'999'999)), "2026-11-15T09:45:40Z");
  EXPECT_EQ(format_time(at(-1)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_time(at(951'782'400'000'000)), "2000-02-29T00:00:00Z");
}

TEST(FormatTime, MicroTimeHasSixDecimals) {
  EXPECT_EQ(format_micro_time(at(1'794'735'940'000'000)), "2026-11-15T09:45:40.000000Z");
  EXPECT_EQ(format_micro_time(at(1'794'735'940'000'042)), "2026-11-15T09:45:40.000042Z");
  EXPECT_EQ(format_micro_time(at(-1)), "1969-12-31T23:59:59.999999Z");
}

TEST(ParseTime, ReadsAnyZoneAndFraction) {
  const struct {
    const char* text;
    const char* utc;
  } rows[] = {
      {"2026-11-15T09:45:40Z", "2026-11-15T09:45:40.000000Z"},
      {"2020-01-01T00:00:00+02:00", "2019-12-31T22:00:00.000000Z"},
      {"2020-01-01T00:00:00-05:30", "2020-01-01T05:30:00.000000Z"},
      {"2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00.500000Z"},
      {"2020-01-01T00:00:00.123456789Z", "2020-01-01T00:00:00.123456Z"},
      {"2020-01-01T00:00:00.000001+00:01", "2019-12-31T23:59:00.000001Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
      {"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
  };
  for (const auto& row : rows) {
    const auto time = parse_time(row.text);
    ASSERT_TRUE(time) << row.text;
    EXPECT_EQ(format_micro_time(*time), row.utc) << row.text;
  }
}

TEST(ParseTime, RefusesWhatIsNotRfc3339) {
  for (const char* text :
       {"", "2020-01-01", "2020-01-01T00:00:00", "2020-01-01 00:00:00Z", "2020-13-01T00:00:00Z",
        "2020-00-01T00:00:00Z", "2021-02-29T00:00:00Z", "2020-04-31T00:00:00Z",
        "2020-01-01T24:00:00Z", "2020-01-01T00:60:00Z", "2020-01-01T00:00:60Z",
        "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00z", "2020-01-01T00:00:00+0200",
        "2020-01-01T00:00:00+24:00", "2020-01-01T00:00:00Zx", "20-01-01T00:00:00Z",
        "2020-1-01T00:00:00Z", "+020-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(HumanDuration, FollowsTheAgeColumn) {
  const struct {
    Duration duration;
    const char* text;
  } rows[] = {
      {-5s, "<invalid>"},
      {-1s, "0s"},
      {0s, "0s"},
      {999ms, "0s"},
      {90s, "90s"},
      {119s, "119s"},
      {2min, "2m"},
      {2min + 5s, "2m5s"},
      {9min + 59s, "9m59s"},
      {10min + 30s, "10m"},
      {179min, "179m"},
      {3h, "3h"},
      {3h + 4min, "3h4m"},
      {7h + 59min, "7h59m"},
      {8h + 30min, "8h"},
      {47h, "47h"},
      {48h, "2d"},
      {53h, "2d5h"},
      {8 * 24h, "8d"},
      {729 * 24h, "729d"},
      {730 * 24h, "2y"},
      {740 * 24h, "2y10d"},
      {9 * 365 * 24h + 24h, "9y"},
  };
  for (const auto& row : rows) EXPECT_EQ(human_duration(row.duration), row.text);
}

}  // namespace time_test
}  // namespace muster
