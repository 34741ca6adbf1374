#include "agent/logs/log_line.h"

namespace muster::agent {
namespace {

// The word up to the next blank, which goes with it; nothing if there is no blank.
std::optional<std::string_view> take_word(std::string_view& text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, blank);
  text.remove_prefix(blank + 1);
  return word;
}

}  // namespace

std::optional<LogLine> parse_log_line(std::string_view line) {
  LogLine parsed;
  const auto time = take_word(line);
  const auto stream = take_word(line);
  const auto tags = take_word(line);
  if (!time || time->empty() || !stream || !tags) return std::nullopt;
  if (*stream != "stdout" && *stream != "stderr") return std::nullopt;
  const std::string_view end = tags->substr(0, tags->find(':'));
  if (end != "F" && end != "P") return std::nullopt;
  parsed.time = *time;
  parsed.is_error = *stream == "stderr";
  parsed.is_piece = end == "P";
  parsed.content = line;
  return parsed;
}

}  // namespace muster::agent
