// One run's log read over several streams, each of whose lines begins with its time: after a cut it
// knows where the next stream has to begin, and drops what it has told already. Pure.
//
// Many lines have the same time (what a program writes at once is stamped once), and some servers
// know seconds only, so the place is a time and the number of lines that were told of it. Lines are
// taken to be in the order of their times; where a clock was set back lines may come twice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::cli {

class LogPosition {
 public:
  // A line without its break. A line longer than `longest` is told in pieces, of which the first
  // only has a time; one that does not begin with a time is told as it is.
  struct Line {
    std::string_view time;
    std::string_view text;
  };
  using Tell = std::function<void(const Line& line)>;

  explicit LogPosition(std::size_t longest) : longest_(longest) {}

  void take(std::string_view data, const Tell& tell);
  // The log is over: what has no line break is a line too.
  void finish(const Tell& tell);

  // The stream has ended where it should not: what comes next is from a stream that begins at
  // since(), or at the beginning if that is nothing.
  void cut();
  std::optional<Time> since() const { return since_; }
  // Where the first stream begins, if not at the beginning; nothing has been told of that time.
  void begin_at(Time time) { since_ = time; }

 private:
  void take_piece(std::string_view bytes, bool ends_line, const Tell& tell);
  void begin_line(std::optional<Time> time);
  std::string_view without_told(std::string_view text);

  std::size_t longest_;
  std::string rest_;               // a line that has not ended
  bool in_line_ = false;           // a piece of it has been taken
  bool is_dropped_ = false;        // the line at hand has been told
  std::optional<Time> line_time_;  // of the line at hand

  // What has been told.
  std::optional<Time> since_;
  std::uint64_t lines_ = 0;  // of that time, whole
  std::size_t bytes_ = 0;    // of the line after those

  // What the present stream repeats of it.
  bool repeats_ = false;
  std::uint64_t lines_to_drop_ = 0;
  std::size_t bytes_to_drop_ = 0;
};

}  // namespace muster::cli
