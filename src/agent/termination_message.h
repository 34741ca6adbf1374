// What a container leaves as its last words (pod-lifecycle 2.10).
#pragma once

#include <string>
#include <string_view>

namespace muster::agent {

// The end of the message file; if that is empty, of a failed run with the policy
// FallbackToLogsOnError: the end of its log.
struct LastWords {
  std::string message_file;
  std::string log_file;
  bool from_log = false;
};
std::string read_last_words(const LastWords& words);

// How much of a log is looked at.
struct TailSize {
  std::size_t lines;
  std::size_t bytes;
};
inline constexpr TailSize kLastWords{.lines = 80, .bytes = 2'048};  // as a kubelet

// The text of the last lines of a log file, without times and streams. Pure.
std::string tail_of_log(std::string_view lines, TailSize size = kLastWords);
std::string read_tail_of_log(const std::string& file, TailSize size = kLastWords);

}  // namespace muster::agent
