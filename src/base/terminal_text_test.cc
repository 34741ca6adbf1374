#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace terminal_text_test {

struct Case {
  std::string_view raw, plain, log;
};

// S3: what others write never moves the cursor, sets a title, rings or turns the line around.
TEST(TerminalText, KeepsWordsAndDropsControls) {
  const std::vector<Case> cases = {
      {"hello", "hello", "hello"},
      {"caf\u00e9 \u4e2d", "caf\u00e9 \u4e2d", "caf\u00e9 \u4e2d"},
      {"a\x1b[2Jb", "ab", "ab"},
      {"\x1b[31mred\x1b[0m", "red", "\x1b[31mred\x1b[0m"},
      {"\x1b[1;1Htop", "top", "top"},
      {"\x1b]0;title\adone", "done", "done"},
      {"\x1b]52;c;Y29weQ==\x1b\\done", "done", "done"},
      {"\x1bPq#0\x1b\\done", "done", "done"},
      {"\x1b(0x", "0x", "0x"},
      {"bell\a", "bell", "bell"},
      {"\u009b2Jc1", "2Jc1", "2Jc1"},
      {"\x9b bad byte", "\uFFFD bad byte", "\uFFFD bad byte"},
      {"abc\u202Edcb", "abcdcb", "abcdcb"},
      {"tab\there", "tab here", "tab\there"},
      {"line\nbreak", "line break", "line break"},
      {"del\x7f", "del", "del"},
      {"\x1b", "", ""},
      {"\x1b[", "", ""},
      {"\x1b]never ends", "never ends", "never ends"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(plain_text(c.raw), c.plain);
    EXPECT_EQ(log_text(c.raw), c.log);
  }
}

TEST(TerminalText, OfALineWrittenOverTheLastPartIsLeft) {
  EXPECT_EQ(log_text(" 10%\r 50%\r100%\r"), "100%");
  EXPECT_EQ(log_text("plain\r"), "plain");
}

TEST(TerminalText, LinesStayLines) { EXPECT_EQ(plain_lines("a\n\tb\x1b[H\r"), "a\n\tb"); }

TEST(TerminalText, JsonEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(escaped_json("{\"a\":\"\u009b\x7f\u00e9\"}"), "{\"a\":\"\\u009b\\u007f\u00e9\"}");
  EXPECT_EQ(escaped_json("\"\u202e\u2066\u2603\""), "\"\\u202e\\u2066\u2603\"");
}

TEST(TerminalText, IsCutToTheWidth) {
  EXPECT_EQ(cut_to("short", 10), "short");
  EXPECT_EQ(cut_to("a long text", 8), "a lon...");
  EXPECT_EQ(cut_to("\u4e2d\u4e2d\u4e2d\u4e2d", 7), "\u4e2d\u4e2d...");
  EXPECT_EQ(cut_to("abc", 2), "ab");
}

TEST(TerminalText, ColourIsTheSameOnEveryRun) {
  EXPECT_EQ(colour_of("workers-0-3"), 34);
  EXPECT_EQ(coloured("x", 32, false), "x");
  EXPECT_EQ(coloured("x", 32, true), "\x1b[32mx\x1b[0m");
}

}  // namespace terminal_text_test
}  // namespace muster
