#include "agent/logs/log_view.h"

#include <gtest/gtest.h>

#include "agent/logs/log_line.h"

namespace muster::agent {
namespace log_view_test {

constexpr std::string_view kLog =
    "2026-11-15T09:00:00.000000001Z stdout F one\n"
    "2026-11-15T09:00:01.000000000Z stderr P two\n"
    "2026-11-15T09:00:02.500000000Z stderr F  and a half\n"
    "2026-11-15T09:00:03.000000000Z stdout F:tag \n"
    "2026-11-15T09:00:04.000000000Z stdout F last\n";

TEST(LogLine, HasTimeStreamEndAndContent) {
  const auto line = parse_log_line("2026-11-15T09:00:01.000000000Z stderr P two  words ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->time, "2026-11-15T09:00:01.000000000Z");
  EXPECT_TRUE(line->is_error);
  EXPECT_TRUE(line->is_piece);
  EXPECT_EQ(line->content, "two  words ");
}

TEST(LogLine, WhatIsNoneIsLeftOut) {
  for (const char* text : {"", "plain text", "2026 stdout", "2026 stdout F", "2026 stdin F x",
                           "2026 stdout X x", " stdout F x"})
    EXPECT_FALSE(parse_log_line(text)) << text;
  LogView view({});
  EXPECT_EQ(view.show("garbage\n2026-11-15T09:00:00.000000001Z stdout F one\n\n"), "one\n");
}

TEST(LogView, ShowsWhatTheProgramWrote) {
  EXPECT_EQ(LogView({}).show(kLog), "one\ntwo and a half\n\nlast\n");
}

TEST(LogView, ATimeStandsBeforeEachLineButNotBeforeItsLaterPieces) {
  EXPECT_EQ(LogView({.timestamps = true}).show(kLog),
            "2026-11-15T09:00:00.000000001Z one\n"
            "2026-11-15T09:00:01.000000000Z two and a half\n"
            "2026-11-15T09:00:03.000000000Z \n"
            "2026-11-15T09:00:04.000000000Z last\n");
}

TEST(LogView, LeavesOutWhatIsOlderThanAsked) {
  LogView view({.since = parse_time("2026-11-15T09:00:03Z")});
  EXPECT_EQ(view.show(kLog), "\nlast\n");
}

TEST(LogView, StopsAfterSoManyBytesWhereverThatIs) {
  LogView view({.timestamps = true, .limit_bytes = 40});
  EXPECT_EQ(view.show(kLog.substr(0, 44)), "2026-11-15T09:00:00.000000001Z one\n");
  EXPECT_FALSE(view.is_full());
  EXPECT_EQ(view.show(kLog.substr(44)), "2026-");
  EXPECT_TRUE(view.is_full());
  EXPECT_EQ(view.show(kLog), "");
}

}  // namespace log_view_test
}  // namespace muster::agent
