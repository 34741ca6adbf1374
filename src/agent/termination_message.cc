#include "agent/termination_message.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "agent/logs/log_line.h"

namespace muster::agent {
namespace {

constexpr std::streamoff kMaxMessage = 4'096;
constexpr std::streamoff kLogWindow = 256 * 1024;  // enough for so many lines, or they are too long

std::string end_of_file(const std::string& path, std::streamoff limit) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - limit));
  std::string end(static_cast<std::size_t>(std::min(size, limit)), '\0');  // whatever is added now
  in.read(end.data(), static_cast<std::streamsize>(end.size()));
  end.resize(static_cast<std::size_t>(in.gcount()));
  return end;
}

std::string content_of(std::string_view line) {
  const auto parsed = parse_log_line(line);
  if (!parsed) return {};
  return std::string(parsed->content) + (parsed->is_piece ? "" : "\n");
}

}  // namespace

std::string tail_of_log(std::string_view lines, TailSize size) {
  std::vector<std::string> tail;
  while (!lines.empty() && tail.size() < size.lines) {
    if (lines.ends_with('\n')) lines.remove_suffix(1);
    const std::size_t start = lines.rfind('\n') + 1;  // 0 if there is none
    tail.push_back(content_of(lines.substr(start)));
    lines = lines.substr(0, start);
  }
  std::string text;
  for (auto line = tail.rbegin(); line != tail.rend(); ++line) text += *line;
  if (text.size() > size.bytes) text = text.substr(text.size() - size.bytes);
  return text;
}

std::string read_tail_of_log(const std::string& file, TailSize size) {
  return tail_of_log(end_of_file(file, kLogWindow), size);
}

std::string read_last_words(const LastWords& words) {
  std::string text = end_of_file(words.message_file, kMaxMessage);
  if (text.empty() && words.from_log) text = read_tail_of_log(words.log_file);
  return text;
}

}  // namespace muster::agent
