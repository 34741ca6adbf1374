// Which logs are read, in which order, and what is remembered of them. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "story/pod_facts.h"

namespace muster::cli {

// What stands before each line.
enum class Prefix : std::uint8_t { kName, kRank, kNone };
std::vector<std::string> prefix_words();  // as --prefix takes them
Prefix parse_prefix(std::string_view word);

struct LogOptions {
  bool follow = true;
  bool previous = false;  // of the run before the present one
  bool timestamps = false;
  std::string container;  // only this one; empty: all
  std::int64_t tail = -1;
  Prefix prefix = Prefix::kName;
  bool colours = false;
};

// The log of one run of a container.
struct LogRun {
  std::string pod;
  std::string uid;  // of the pod
  std::string container;
  std::int64_t run = 0;  // how often the container had been started before
  std::string prefix;    // may be empty

  bool operator==(const LogRun&) const = default;
};

// A line as a person reads it, without its prefix and with it. `time` may be empty.
std::string log_line_text(std::string_view time, std::string_view text, const LogOptions& options);
std::string log_line(const std::string& prefix, const std::string& text, const LogOptions& options);

class LogBook {
 public:
  // `job_set` is cut from the names; may be empty.
  LogBook(std::string job_set, LogOptions options)
      : job_set_(std::move(job_set)), options_(std::move(options)) {}

  // What is to be read of this pod and has not been named before. Runs of one container are read
  // one after the other: ended() names the next.
  std::vector<LogRun> look(const story::PodFacts& pod);
  std::optional<LogRun> ended(const LogRun& log);
  bool all_ended() const { return open_ == 0; }

  static constexpr std::size_t kKeptLines = 20;
  void keep_line(const std::string& pod_uid, std::string text);
  // The last lines of a pod, as printed but without prefix.
  std::vector<std::string> last_lines(const std::string& pod_uid) const;

  const LogOptions& options() const { return options_; }

 private:
  struct Runs {
    std::int64_t newest = -1;
    std::deque<LogRun> waiting;
    bool is_read = false;  // one that is not among those
  };
  std::string name_of(const story::PodFacts& pod, const std::string& container) const;

  std::string job_set_;
  LogOptions options_;
  std::map<std::string, Runs> runs_;  // by pod and container
  std::map<std::string, std::deque<std::string>> kept_;
  int open_ = 0;  // read or waiting
};

}  // namespace muster::cli
