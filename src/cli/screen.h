// What `run` shows: log lines on standard output and, on a terminal, a block of status lines that
// stays below them. Whole lines only, whoever writes at the same time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

// What to send to a terminal so that text scrolls above a block of lines. Pure.
class Block {
 public:
  // The block's lines from now on, none wider than the terminal.
  std::string replace(std::vector<std::string> lines);
  // Whole lines, above the block.
  std::string print_above(std::string_view text) const;
  // The block is gone, and the cursor where it began.
  std::string clear();

 private:
  std::string erase() const;
  std::string draw() const;
  std::vector<std::string> lines_;
};

class Screen {
 public:
  struct Options {
    bool progress = true;  // false: no block, whatever the terminal
  };
  explicit Screen(Options options);
  ~Screen();  // the block is gone
  Screen(const Screen&) = delete;

  bool has_block() const { return has_block_; }
  bool colours() const { return colours_; }                // of logs
  bool status_colours() const { return status_colours_; }  // of the block and notes
  std::size_t width() const;

  void log(std::string_view line);   // without its line break; has been cleaned
  void note(std::string_view line);  // on standard error
  void set_block(std::vector<std::string> lines);
  void clear_block();

 private:
  bool has_block_ = false;
  bool one_terminal_ = false;  // standard output is on the same screen as the block
  bool colours_ = false;
  bool status_colours_ = false;
  Block block_;
};

// Whether the terminal and the user want colours there (NO_COLOR).
bool wants_colours(int descriptor);

}  // namespace muster::cli
