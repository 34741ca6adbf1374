#include "cli/log_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace muster::cli {
namespace {

bool colours_wanted() {
  static const bool wanted = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return wanted;
}

// The length of a colour sequence ESC [ digits ; … m at the start of the text; 0 if there is none.
std::size_t colour_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string log_prefix(std::string_view job_set, std::string_view pod, std::string_view container) {
  if (pod.starts_with(job_set) && pod.substr(job_set.size()).starts_with('-'))
    pod.remove_prefix(job_set.size() + 1);
  pod = pod.substr(0, pod.rfind('-'));
  return container.empty() ? std::string(pod) : fmt::format("{}/{}", pod, container);
}

int colour_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 31 + static_cast<int>(hash % 6);
}

std::string without_controls(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const auto c = static_cast<unsigned char>(line[i]);
    if (const std::size_t colour = colour_sequence(line.substr(i)); colour > 0) {
      out += line.substr(i, colour);
      i += colour;
    } else {
      if (c >= 0x20 && c != 0x7f) out += line[i];
      if (c == '\t') out += '\t';
      ++i;
    }
  }
  return out;
}

LogLines::LogLines(std::string prefix) : prefix_(std::move(prefix)) {}

void LogLines::take(std::string_view data) {
  rest_ += data;
  std::size_t start = 0;
  for (std::size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1) {
    print(std::string_view(rest_).substr(start, end - start));
  }
  rest_.erase(0, start);
  if (rest_.size() >= kMaxLine) finish();
}

void LogLines::finish() {
  if (!rest_.empty()) print(rest_);
  rest_.clear();
}

void LogLines::print(std::string_view line) const {
  if (colours_wanted()) {
    fmt::print("\x1b[{}m{}\x1b[0m | {}\x1b[0m\n", colour_of(prefix_), prefix_,
               without_controls(line));
  } else {
    fmt::print("{} | {}\n", prefix_, without_controls(line));
  }
  std::fflush(stdout);
}

}  // namespace muster::cli
