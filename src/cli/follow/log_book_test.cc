#include "cli/follow/log_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace log_book_test {

using ::testing::IsEmpty;

story::PodFacts pod_with_logs(std::vector<story::PodFacts::Log> logs) {
  story::PodFacts pod;
  pod.name = "train-work-0-3-x7k2p";
  pod.uid = "u";
  pod.job = "train-work-0";
  pod.rank = "11";
  pod.logs = std::move(logs);
  return pod;
}

TEST(LogBook, NamesEachRunOfAContainerOnceAndOneAfterTheOther) {
  LogBook book("train", {.container = {}});
  const auto first = book.look(pod_with_logs({{"main", 0}, {"side", 0}}));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_THAT(book.look(pod_with_logs({{"main", 0}, {"side", 0}})), IsEmpty());
  EXPECT_THAT(book.look(pod_with_logs({{"main", 2}, {"side", 0}})), IsEmpty());
  EXPECT_THAT(book.look(pod_with_logs({{"main", 3}, {"side", 0}})), IsEmpty());
  EXPECT_EQ(book.ended(first[0])->run, 2);
  EXPECT_FALSE(book.all_ended());
  LogRun second = first[0];
  second.run = 2;
  EXPECT_EQ(book.ended(second)->run, 3);
  second.run = 3;
  EXPECT_FALSE(book.ended(second));
  EXPECT_FALSE(book.all_ended());
  EXPECT_FALSE(book.ended(first[1]));
  EXPECT_TRUE(book.all_ended());
  EXPECT_THAT(book.look(pod_with_logs({{"main", 4}})).size(), 1u) << "nothing is read before it";
}

TEST(LogBook, ReadsOneContainerIfThatIsWanted) {
  LogBook book("train", {.container = "side"});
  const auto logs = book.look(pod_with_logs({{"main", 0}, {"side", 0}}));
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].container, "side");
}

TEST(LogBook, GivesEachLogThePrefixThatIsWanted) {
  const auto prefix = [](Prefix kind, bool several = false) {
    story::PodFacts pod = pod_with_logs({{"main", 0}});
    pod.several_containers = several;
    return LogBook("train", {.container = {}, .prefix = kind}).look(pod)[0].prefix;
  };
  EXPECT_EQ(prefix(Prefix::kName), "work-0-3");
  EXPECT_EQ(prefix(Prefix::kName, true), "work-0-3/main");
  EXPECT_EQ(prefix(Prefix::kRank), "11");
  EXPECT_EQ(prefix(Prefix::kNone), "");
}

TEST(LogBook, KeepsTheLastLinesOfAPod) {
  LogBook book("train", {.container = {}});
  for (int i = 0; i < 25; ++i) book.keep_line("u", std::to_string(i));
  EXPECT_EQ(book.last_lines("u").size(), LogBook::kKeptLines);
  EXPECT_EQ(book.last_lines("u").front(), "5");
  EXPECT_EQ(book.last_lines("u").back(), "24");
  EXPECT_THAT(book.last_lines("v"), IsEmpty());
}

TEST(LogLine, IsThePrefixTheTimeAndTheTextWithoutWhatMovesTheCursor) {
  const LogOptions plain{.container = {}}, timed{.timestamps = true, .container = {}},
      coloured{.container = {}, .colours = true};
  EXPECT_EQ(log_line_text("T", "a\x1b[2Jb", plain), "ab");
  EXPECT_EQ(log_line_text("T", "a", timed), "T a");
  EXPECT_EQ(log_line_text("", "a", timed), "a") << "the rest of a long line";
  EXPECT_EQ(log_line("", "a", plain), "a");
  EXPECT_EQ(log_line("w", "a", plain), "w | a");
  EXPECT_TRUE(log_line("w", "\x1b[31mred", coloured).ends_with("red\x1b[0m"));
}

}  // namespace log_book_test
}  // namespace muster::cli
