#include "cli/log_lines.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(LogPrefix, IsThePodWithoutItsSetAndSuffix) {
  EXPECT_EQ(log_prefix("train", "train-workers-0-3-x7k2p", ""), "workers-0-3");
  EXPECT_EQ(log_prefix("train", "train-workers-0-3-x7k2p", "side"), "workers-0-3/side");
}

TEST(Colour, IsTheSameOnEveryRun) { EXPECT_EQ(colour_of("workers-0-3"), colour_of("workers-0-3")); }

TEST(Controls, AreTakenOutButColoursStay) {
  EXPECT_EQ(without_controls("a\x1b[2Jb\r\x07"), "a[2Jb");
  EXPECT_EQ(without_controls("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m");
}

TEST(LogLines, ComeWholeAndBehindTheirPrefix) {
  testing::internal::CaptureStdout();
  LogLines lines("w-0");
  lines.take("hel");
  lines.take("lo\nwor");
  lines.finish();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "w-0 | hello\nw-0 | wor\n");
}

}  // namespace
}  // namespace muster::cli
