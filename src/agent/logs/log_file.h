// The log file of one run, read in slices while it may still be written. Blocks on the disk.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::agent {

// Of a pod's logs, below the root of all logs: <ns>_<pod>_<uid>, the name cut where it would be
// longer than a file's name can be.
std::string pod_log_folder(std::string_view ns, std::string_view pod, std::string_view uid);

// Which run, of which container.
struct LogKey {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string container;
  int run = 0;
  auto operator<=>(const LogKey&) const = default;

  std::string folder() const;  // below the root of all logs
  std::string file() const;    // likewise
};

class LogFile {
 public:
  // No link on the way below the root is followed. It is empty while there is no such file: its
  // writer makes it with the first line.
  static Result<LogFile> open(std::string root, const LogKey& key);

  // Where reading begins; at the first line otherwise. Not after reading has begun.
  void skip_to_last_lines(std::int64_t count);
  void skip_to_end();
  // What is written from now on is not read.
  void stop_at_present_end();

  // The next whole lines; empty at the end. Valid until the next call.
  std::string_view read_lines();
  // A last line that was never ended, if any.
  std::string_view unfinished_line() const;

  // The file has been made, or rotated away and there is a new one, from whose start it goes on.
  bool switch_to_new_file();

 private:
  LogFile(std::string root, std::string path, UniqueFd fd);

  std::string root_;
  std::string path_;
  UniqueFd fd_;
  off_t offset_ = 0;          // of what is read next
  std::optional<off_t> end_;  // of what is read at all
  std::string buffer_;        // lines that were given out, and the beginning of one
  std::size_t given_out_ = 0;
};

}  // namespace muster::agent
