// Times as Go reads them.
#include <gmock/gmock.h>

#include "api/decode/go_time.h"

namespace muster::api {
namespace go_values_test {

std::string time_text(std::string_view text, TimeLayout layout = TimeLayout::kSeconds) {
  const auto time = parse_go_time(text, layout);
  return time ? format_micro_time(*time) : time.error();
}

TEST(GoTime, ReadsAnyZoneAndFraction) {
  EXPECT_EQ(time_text("2020-02-29T12:00:00Z"), "2020-02-29T12:00:00.000000Z");
  EXPECT_EQ(time_text("2020-01-01T1:00:00Z"), "2020-01-01T01:00:00.000000Z");
  EXPECT_EQ(time_text("2020-01-01T00:00:00+02:00"), "2019-12-31T22:00:00.000000Z");
  EXPECT_EQ(time_text("2020-01-01T00:00:00.1234567-00:30"), "2020-01-01T00:30:00.123456Z");
  EXPECT_EQ(time_text("2020-01-01T00:00:00.000250Z", TimeLayout::kMicros),
            "2020-01-01T00:00:00.000250Z");
}

TEST(GoTime, FaultsSpeakLikeGo) {
  struct Row {
    std::string_view text, error;
  };
  const Row rows[] = {
      {"", R"(parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006")"},
      {"abc", R"(parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006")"},
      {"2020-01-01",
       R"(parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T")"},
      {"2020-13-01T00:00:00Z", R"(parsing time "2020-13-01T00:00:00Z": month out of range)"},
      {"2021-02-29T00:00:00Z", R"(parsing time "2021-02-29T00:00:00Z": day out of range)"},
      {"2020-01-01T24:00:00Z", R"(parsing time "2020-01-01T24:00:00Z": hour out of range)"},
      {"2020-01-01T00:00:00",
       R"(parsing time "2020-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00")"},
      {"2020-1-1T00:00:00Z",
       R"(parsing time "2020-1-1T00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse "1-1T00:00:00Z" as "01")"},
      {"2020-01-01t00:00:00z",
       R"(parsing time "2020-01-01t00:00:00z" as "2006-01-02T15:04:05Z07:00": cannot parse "t00:00:00z" as "T")"},
      {"2020-01-01T00:00:00+2:00",
       R"(parsing time "2020-01-01T00:00:00+2:00" as "2006-01-02T15:04:05Z07:00": cannot parse "+2:00" as "Z07:00")"},
      {"2020-01-01T00:00:00Zx", R"(parsing time "2020-01-01T00:00:00Zx": extra text: "x")"},
  };
  for (const Row& row : rows) EXPECT_EQ(time_text(row.text), row.error);
  EXPECT_EQ(
      time_text("2020-01-01T00:00:00.5Z", TimeLayout::kMicros),
      R"(parsing time "2020-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000")");
}

}  // namespace go_values_test
}  // namespace muster::api
