#include "cli/follow/log_position.h"

namespace muster::cli {

void LogPosition::take(std::string_view data, const Tell& tell) {
  rest_ += data;
  std::size_t start = 0;
  for (std::size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1)
    take_piece(std::string_view(rest_).substr(start, end - start), true, tell);
  rest_.erase(0, start);
  if (rest_.size() < longest_) return;
  take_piece(rest_, false, tell);
  rest_.clear();
}

void LogPosition::finish(const Tell& tell) {
  if (!rest_.empty()) take_piece(rest_, true, tell);
  rest_.clear();
}

void LogPosition::cut() {
  rest_.clear();
  in_line_ = false;
  repeats_ = since_.has_value();
  lines_to_drop_ = lines_;
  bytes_to_drop_ = bytes_;
}

void LogPosition::take_piece(std::string_view bytes, bool ends_line, const Tell& tell) {
  Line line{.time = {}, .text = bytes};
  if (!in_line_) {
    const std::size_t blank = std::min(bytes.find(' '), bytes.size());
    line_time_ = parse_time(bytes.substr(0, blank));
    if (line_time_) {
      line.time = bytes.substr(0, blank);
      line.text = bytes.substr(std::min(blank + 1, bytes.size()));
    }
    begin_line(line_time_);
  }
  in_line_ = !ends_line;
  if (is_dropped_) return;
  const bool told_in_part = bytes_to_drop_ > 0;
  line.text = without_told(line.text);
  if (line_time_) bytes_ = ends_line ? 0 : bytes_ + line.text.size();
  if (line_time_ && ends_line) ++lines_;
  // Of a line whose first pieces have been told nothing may be left.
  if (!told_in_part || !line.text.empty()) tell(line);
}

// Whether it is one that has been told, and if not, what counts from now on.
void LogPosition::begin_line(std::optional<Time> time) {
  is_dropped_ = false;
  if (!time) return;
  if (repeats_) {
    is_dropped_ = *time < *since_ || (*time == *since_ && lines_to_drop_ > 0);
    if (*time == *since_ && is_dropped_) --lines_to_drop_;
    if (is_dropped_) return;
    repeats_ = false;
    if (*time == *since_) return;  // its first bytes may have been told
  }
  bytes_to_drop_ = 0;
  if (time == since_) return;
  since_ = time;
  lines_ = 0;
  bytes_ = 0;
}

std::string_view LogPosition::without_told(std::string_view text) {
  const std::size_t told = std::min(bytes_to_drop_, text.size());
  bytes_to_drop_ -= told;
  return text.substr(told);
}

}  // namespace muster::cli
