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

// The text of the last lines of a log file, without times and streams. Pure.
std::string tail_of_log(std::string_view lines);

}  // namespace muster::agent
