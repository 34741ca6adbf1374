#include "cli/follow/log_position.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::cli {
namespace log_position_test {

using ::testing::ElementsAre;

// Lines as a server sends them: "1.000002 text" stands for a line of that second and microsecond.
std::string at(std::string_view second, std::string_view text) {
  const bool whole = second.find('.') == second.npos;
  return fmt::format("2026-11-15T09:00:0{}{}Z {}\n", second, whole ? ".000000000" : "000", text);
}

class LogPositionTest : public ::testing::Test {
 protected:
  void take(std::string_view data) {
    position.take(data, [this](const LogPosition::Line& line) { told.emplace_back(line.text); });
  }
  void cut() { position.cut(); }
  std::string since() const {
    return position.since() ? format_micro_time(*position.since()).substr(18, 8) : "the beginning";
  }

  LogPosition position{32 + 30};
  std::vector<std::string> told;
};

TEST_F(LogPositionTest, TellsTimeAndTextOfEveryLine) {
  position.take(at("1", "one") + "no time\n" + at("2", ""), [this](const LogPosition::Line& line) {
    told.push_back(fmt::format("{}|{}", line.time, line.text));
  });
  EXPECT_THAT(told, ElementsAre("2026-11-15T09:00:01.000000000Z|one", "|no time",
                                "2026-11-15T09:00:02.000000000Z|"));
}

TEST_F(LogPositionTest, ALineThatWasCutIsToldOnce) {
  take(at("1", "one") + at("2", "two").substr(0, 33));
  cut();
  EXPECT_EQ(since(), "1.000000");
  take(at("1", "one") + at("2", "two"));
  EXPECT_THAT(told, ElementsAre("one", "two"));
}

TEST_F(LogPositionTest, OfLinesOfOneTimeThoseThatWereToldAreDropped) {
  take(at("1", "a") + at("1", "b") + at("1", "b"));
  cut();
  take(at("1", "a") + at("1", "b") + at("1", "b") + at("1", "b") + at("2", "c"));
  EXPECT_THAT(told, ElementsAre("a", "b", "b", "b", "c"));
  cut();
  cut();  // nothing came in between
  take(at("2", "c") + at("2", "d"));
  EXPECT_THAT(told, ElementsAre("a", "b", "b", "b", "c", "d"));
}

TEST_F(LogPositionTest, AServerThatKnowsSecondsOnlyRepeatsMore) {
  take(at("1.000001", "a") + at("1.000002", "b") + at("1.000003", "c"));
  cut();
  EXPECT_EQ(since(), "1.000003");
  take(at("1.000001", "a") + at("1.000002", "b") + at("1.000003", "c") + at("1.000003", "d"));
  EXPECT_THAT(told, ElementsAre("a", "b", "c", "d"));
}

TEST_F(LogPositionTest, WhatWasRotatedAwayIsNotWaitedFor) {
  take(at("1", "a") + at("1", "b"));
  cut();
  take(at("5", "e") + at("5", "f"));
  cut();
  EXPECT_EQ(since(), "5.000000");
  take(at("5", "e") + at("5", "f") + at("6", "g"));
  EXPECT_THAT(told, ElementsAre("a", "b", "e", "f", "g"));
}

TEST_F(LogPositionTest, WithoutALineItBeginsAtTheBeginning) {
  take("2026-11-15T09:00:01.0000");
  cut();
  EXPECT_EQ(since(), "the beginning");
  take(at("1", "a"));
  EXPECT_THAT(told, ElementsAre("a"));
}

TEST_F(LogPositionTest, OfALongLineOnlyTheRestIsToldAgain) {
  const std::string thirty(30, 'x'), rest = "and the rest";
  take(at("1", "a") + at("1", thirty + "y" + rest).substr(0, 31 + 31));  // more than it keeps
  EXPECT_THAT(told, ElementsAre("a", thirty + "y"));
  cut();
  take(at("1", "a") + at("1", thirty + "y" + rest) + at("1", "b"));
  EXPECT_THAT(told, ElementsAre("a", thirty + "y", rest, "b"));
  cut();
  take(at("1", "a") + at("1", thirty + "y" + rest) + at("1", "b") + at("1", "c"));
  EXPECT_THAT(told, ElementsAre("a", thirty + "y", rest, "b", "c"));
}

TEST_F(LogPositionTest, TheLastLineMayHaveNoEnd) {
  take(at("1", "a") + "2026-11-15T09:00:02.000000000Z b");
  position.finish([this](const LogPosition::Line& line) { told.emplace_back(line.text); });
  EXPECT_THAT(told, ElementsAre("a", "b"));
}

// Every cut at every byte: nothing lost, nothing twice.
TEST_F(LogPositionTest, ACutMayBeAnywhere) {
  std::vector<std::string> lines, expected;
  for (const auto& [time, text] : std::vector<std::pair<std::string, std::string>>{
           {"1", "a"}, {"1", "a"}, {"1.000001", ""}, {"1.000001", "b"}, {"2", "c"}, {"2", "c"}}) {
    lines.push_back(at(time, text));
    expected.push_back(text);
  }
  std::string log;
  for (const std::string& line : lines) log += line;
  for (std::size_t end = 0; end <= log.size(); ++end) {
    for (std::size_t second = 0; second <= log.size(); second += 7) {
      position = LogPosition(1024);
      told.clear();
      for (const std::size_t size : {end, second, log.size()}) {
        // From the line on whose time since() tells, as a server sends it.
        std::size_t from = 0;
        for (const std::string& line : lines) {
          const auto time = parse_time(line.substr(0, line.find(' ')));
          if (!position.since() || *time >= *position.since()) break;
          from += line.size();
        }
        take(std::string_view(log).substr(from, std::max(size, from) - from));
        cut();
      }
      ASSERT_EQ(told, expected) << end << " " << second;
    }
  }
}

}  // namespace log_position_test
}  // namespace muster::cli
