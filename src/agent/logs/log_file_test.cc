#include "agent/logs/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/logs/testing.h"

namespace muster::agent {
namespace log_file_test {

using testing::LogFolder;

std::string read_all(LogFile& file) {
  std::string all;
  for (std::string_view lines; !(lines = file.read_lines()).empty();) all += lines;
  return all;
}

LogFile open(const LogFolder& folder) {
  return LogFile::open(folder.root, LogFolder::key()).value();
}

TEST(PodLogFolder, IsNeverLongerThanAFilesName) {
  EXPECT_EQ(pod_log_folder("d", "p", "u"), "d_p_u");
  const std::string uid(36, 'u'), longest = pod_log_folder("d", std::string(253, 'n'), uid);
  EXPECT_EQ(longest, "d_" + std::string(255 - 39, 'n') + "_" + uid);
}

TEST(LogFile, IsReadInWholeLinesHoweverLargeItIs) {
  const LogFolder folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("line number {}\n", i);
  folder.write_raw(text + "unfinished");
  LogFile file = open(folder);
  std::string all;
  for (std::string_view lines; !(lines = file.read_lines()).empty();) {
    EXPECT_EQ(lines.back(), '\n');
    EXPECT_LT(lines.size(), 128u * 1024);
    all += lines;
  }
  EXPECT_EQ(all, text);
  EXPECT_EQ(file.unfinished_line(), "unfinished");
  folder.write_raw(" no more\n");
  EXPECT_EQ(file.read_lines(), "unfinished no more\n");
}

TEST(LogFile, TheTailIsFoundFromTheEnd) {
  const LogFolder folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("line number {}\n", i);
  folder.write_raw(text);
  const auto tail = [&](std::int64_t count) {
    LogFile file = open(folder);
    file.skip_to_last_lines(count);
    return read_all(file);
  };
  EXPECT_EQ(tail(0), "");
  EXPECT_EQ(tail(1), "line number 19999\n");
  EXPECT_EQ(tail(2), "line number 19998\nline number 19999\n");
  EXPECT_EQ(tail(15'000), text.substr(text.find("line number 5000\n")));
  EXPECT_EQ(tail(20'000), text);
  EXPECT_EQ(tail(INT64_MAX), text);
  folder.write_raw("half");
  folder.write_raw(" done\n");
  EXPECT_EQ(tail(1), "half done\n");
}

TEST(LogFile, ALineThatIsNotEndedYetCountsAsOne) {
  const LogFolder folder;
  folder.write_raw("one\ntwo");
  LogFile file = open(folder);
  file.skip_to_last_lines(1);
  EXPECT_EQ(read_all(file), "");
  EXPECT_EQ(file.unfinished_line(), "two");
}

TEST(LogFile, MayStopWhereItEndedAtFirst) {
  const LogFolder folder;
  folder.write_raw("one\n");
  LogFile file = open(folder);
  file.stop_at_present_end();
  folder.write_raw("two\n");
  EXPECT_EQ(read_all(file), "one\n");
}

TEST(LogFile, GoesOnInTheNewFileAfterRotation) {
  const LogFolder folder;
  folder.write_raw("one\n");
  LogFile file = open(folder);
  EXPECT_EQ(read_all(file), "one\n");
  EXPECT_FALSE(file.switch_to_new_file());
  folder.write_raw("two\n");
  folder.rotate();
  EXPECT_FALSE(file.switch_to_new_file());  // there is none yet
  folder.write_raw("three\n");
  EXPECT_EQ(read_all(file), "two\n");
  EXPECT_TRUE(file.switch_to_new_file());
  EXPECT_EQ(read_all(file), "three\n");
}

TEST(LogFile, IsEmptyUntilItsFirstLine) {
  const LogFolder folder;
  LogFile file = open(folder);
  file.skip_to_last_lines(3);
  EXPECT_EQ(read_all(file), "");
  EXPECT_FALSE(file.switch_to_new_file());
  folder.write_raw("one\n");
  EXPECT_TRUE(file.switch_to_new_file());
  EXPECT_EQ(read_all(file), "one\n");
  EXPECT_FALSE(file.switch_to_new_file());
}

TEST(LogFile, LinksAndPipesAreNotFollowed) {
  const LogFolder folder;
  std::filesystem::create_directories(folder.path().parent_path());
  std::filesystem::create_symlink("/etc/passwd", folder.path());
  EXPECT_FALSE(LogFile::open(folder.root, LogFolder::key()).has_value());
  std::filesystem::remove(folder.path());
  ASSERT_EQ(::mkfifo(folder.path().c_str(), 0600), 0);
  LogFile pipe = open(folder);  // and does not wait for a writer
  EXPECT_EQ(read_all(pipe), "");
  LogKey outside = LogFolder::key();
  outside.container = "../../../etc";
  EXPECT_FALSE(LogFile::open(folder.root, outside).has_value());
}

}  // namespace log_file_test
}  // namespace muster::agent
