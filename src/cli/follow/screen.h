// What `run` shows: log lines on standard output and, on a terminal, a block of status lines that
// stays below them. Whole lines only, whoever writes at the same time. Nobody waits here for who
// reads them (writer.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/follow/writer.h"

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
  Screen(Loop& loop, Options options);
  Screen(const Screen&) = delete;

  bool has_block() const { return has_block_; }
  bool colours() const { return colours_; }                // of logs
  bool status_colours() const { return status_colours_; }  // of the block and notes

  void log(std::string_view line);   // without its line break; has been cleaned
  void note(std::string_view line);  // on standard error
  void set_block(std::vector<std::string> lines);
  void clear_block();

  // Lines of logs are not read as fast as they come: no more of them, please, until on_room().
  bool is_full() const { return out_.is_full(); }
  void on_room(std::function<void()> task) { room_ = std::move(task); }
  // Standard output takes no more lines, for this reason (errno). At most once.
  void on_failure(std::function<void(int error_number)> task) { failed_ = std::move(task); }
  // No more logs and no block. Calls `done` on the loop when all has been written, or cannot be.
  void finish(std::function<void()> done);
  std::size_t unwritten() const;  // bytes

 private:
  Writer& notes() { return errors_ ? *errors_ : out_; }

  const bool one_place_;  // standard output and standard error are the same file or terminal
  bool has_block_ = false;
  bool one_terminal_ = false;  // standard output is on the same screen as the block
  bool colours_ = false;
  bool status_colours_ = false;
  bool is_finished_ = false;
  Block block_;
  std::function<void()> room_;
  std::function<void(int)> failed_;
  Writer out_;
  std::unique_ptr<Writer> errors_;  // null: what is in one place is written in order
};

// Of the terminal behind standard error, in letters.
std::size_t terminal_width();

// Whether the terminal and the user want colours there (NO_COLOR).
bool wants_colours(int descriptor);

}  // namespace muster::cli
