#include "cli/follow/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace screen_test {

using testing::ElementsAre;

// As much of a terminal as the block uses: text, \r, \n, up, erase below.
class Terminal {
 public:
  void show(std::string_view text) {
    while (!text.empty()) text.remove_prefix(take(text));
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out = lines_;
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }

 private:
  std::size_t take(std::string_view text) {
    if (text.starts_with("\x1b[J")) {
      lines_.resize(row_ + 1);
      lines_[row_].resize(column_);
      return 3;
    }
    if (text.starts_with("\x1b[")) {
      const std::size_t end = text.find('A');
      row_ -= std::stoul(std::string(text.substr(2, end - 2)));
      return end + 1;
    }
    if (text[0] == '\r') {
      column_ = 0;
    } else if (text[0] == '\n') {
      column_ = 0;
      if (++row_ == lines_.size()) lines_.emplace_back();
    } else {
      lines_[row_].resize(std::max(lines_[row_].size(), column_ + 1), ' ');
      lines_[row_][column_++] = text[0];
    }
    return 1;
  }

  std::vector<std::string> lines_ = {""};
  std::size_t row_ = 0, column_ = 0;
};

TEST(Block, StaysBelowWhatIsPrinted) {
  Terminal terminal;
  Block block;
  terminal.show(block.print_above("first\n"));
  terminal.show(block.replace({"[>>] a", "elapsed 1s"}));
  terminal.show(block.print_above("second\nthird\n"));
  EXPECT_THAT(terminal.lines(), ElementsAre("first", "second", "third", "[>>] a", "elapsed 1s"));
}

TEST(Block, GrowsAndShrinksWithoutLeavingTraces) {
  Terminal terminal;
  Block block;
  terminal.show(block.replace({"a long first line", "b", "c"}));
  terminal.show(block.replace({"short"}));
  terminal.show(block.print_above("log\n"));
  EXPECT_THAT(terminal.lines(), ElementsAre("log", "short"));
  terminal.show(block.clear());
  terminal.show("end\n");
  EXPECT_THAT(terminal.lines(), ElementsAre("log", "end"));
}

}  // namespace screen_test
}  // namespace muster::cli
