#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace muster::log {
namespace log_test {

using testing::MatchesRegex;

// What `write` puts on standard error under the given settings.
std::string captured(Level least, Format format, const std::function<void()>& write) {
  configure(least, format);
  testing::internal::CaptureStderr();
  write();
  std::string text = testing::internal::GetCapturedStderr();
  configure(Level::kInfo, Format::kText);
  return text;
}

std::string text_of(const std::function<void()>& write) {
  return captured(Level::kDebug, Format::kText, write);
}

// Cuts the time, which is 24 letters and a blank.
std::string after_time(const std::string& line) { return line.substr(25); }

TEST(Log, LineHasTimeLevelMessageAndFields) {
  const std::string line = text_of([] { info("listening", {{"port", 8443}, {"tls", true}}); });
  EXPECT_THAT(line,
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                           "INFO  listening port=8443 tls=true\n"));
}

TEST(Log, LevelsAreAligned) {
  EXPECT_EQ(after_time(text_of([] { debug("m"); })), "DEBUG m\n");
  EXPECT_EQ(after_time(text_of([] { info("m"); })), "INFO  m\n");
  EXPECT_EQ(after_time(text_of([] { warn("m"); })), "WARN  m\n");
  EXPECT_EQ(after_time(text_of([] { error("m"); })), "ERROR m\n");
}

TEST(Log, ValuesThatCouldBeMisreadAreQuoted) {
  const struct {
    const char* value;
    const char* written;
  } rows[] = {
      {"plain", "plain"},    {"/api/v1?x", "/api/v1?x"},
      {"", R"("")"},         {"two words", R"("two words")"},
      {"a=b", R"("a=b")"},   {"say \"hi\"", R"("say \"hi\"")"},
      {"a\\b", R"("a\\b")"},
  };
  for (const auto& row : rows) {
    const std::string line = text_of([&] { info("m", {{"key", row.value}}); });
    EXPECT_EQ(after_time(line), std::string("INFO  m key=") + row.written + "\n");
  }
}

TEST(Log, NobodyCanForgeASecondLine) {
  const std::string line = text_of([] { warn("a\nb", {{"key", "x\ny\x1b"}}); });
  EXPECT_EQ(after_time(line), "WARN  a\\nb key=\"x\\ny\\u001b\"\n");
}

TEST(Log, PercentAndBracesAreNotFormats) {
  EXPECT_EQ(after_time(text_of([] { info("100% {} %v"); })), "INFO  100% {} %v\n");
}

TEST(Log, LowerLevelsAreDropped) {
  EXPECT_EQ(captured(Level::kWarn, Format::kText, [] { info("quiet"); }), "");
  EXPECT_NE(captured(Level::kWarn, Format::kText, [] { warn("loud"); }), "");
}

TEST(Log, JsonLines) {
  const std::string line = captured(Level::kInfo, Format::kJson, [] {
    error("it \"broke\"\n", {{"object", "a b"}, {"count", 3}});
  });
  EXPECT_THAT(line, MatchesRegex("\\{\"ts\":\"[-0-9T:.]+Z\",\"level\":\"error\",.*\\}\n"));
  EXPECT_THAT(line, testing::HasSubstr(R"("msg":"it \"broke\"\n","object":"a b","count":"3"})"));
}

}  // namespace log_test
}  // namespace muster::log
