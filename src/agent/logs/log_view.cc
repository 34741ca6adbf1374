#include "agent/logs/log_view.h"

#include "agent/logs/log_line.h"

namespace muster::agent {

std::string LogView::show(std::string_view lines) {
  std::string out;
  if (full_) return out;
  for_each_log_line(lines, [&](const LogLine& line) {
    if (options_.since) {
      const std::optional<Time> time = parse_time(line.time);
      if (!time || *time < *options_.since) return true;
    }
    if (options_.timestamps && at_line_start_) out.append(line.time).append(" ");
    out.append(line.content);
    if (!line.is_piece) out += '\n';
    at_line_start_ = !line.is_piece;
    return true;
  });
  if (options_.limit_bytes) {
    const std::int64_t room = *options_.limit_bytes - shown_bytes_;
    full_ = room <= static_cast<std::int64_t>(out.size());
    if (full_) out.resize(static_cast<std::size_t>(room));
  }
  shown_bytes_ += static_cast<std::int64_t>(out.size());
  return out;
}

}  // namespace muster::agent
