// One line of a log file: `<RFC 3339 time> <stdout|stderr> <F|P>[:tags] <content>`. F ends a line
// of the program, P is a piece of one that goes on (docs/logs.md).
#pragma once

#include <optional>
#include <string_view>

namespace muster::agent {

struct LogLine {
  std::string_view time;  // as written
  bool is_error = false;  // of stderr
  bool is_piece = false;
  std::string_view content;
};

// Without its line end; nothing if it is no such line.
std::optional<LogLine> parse_log_line(std::string_view line);

// Calls `take(const LogLine&)` for each line of the text that is one; `take` says whether to go on.
template <class Take>
void for_each_log_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto line = parse_log_line(text.substr(0, end));
    if (line && !take(*line)) return;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace muster::agent
