// The logs of many pods as whole lines on one screen, each behind the name of its process. Streams
// are opened as containers start, also those of pods that are born later and of further runs.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/lines.h"
#include "cli/pod_facts.h"
#include "client/client.h"

namespace muster::cli {

enum class Prefix : std::uint8_t { kName, kRank, kNone };

struct LogOptions {
  bool follow = true;
  bool previous = false;  // of the run before the present one
  bool timestamps = false;
  std::string container;  // only this one; empty: all
  std::int64_t tail = -1;
  Prefix prefix = Prefix::kName;
  bool colours = false;
};

class LogStreams {
 public:
  using Print = std::function<void(std::string_view line)>;

  // `job_set` is cut from the names; may be empty.
  LogStreams(client::Client& client, std::string ns, std::string job_set, LogOptions options,
             Print print);

  // Opens what has been started since the last look at this pod.
  void look(const PodFacts& pod);
  // Called when the last open stream has ended.
  void on_idle(Task task) { idle_ = std::move(task); }
  int open() const { return open_; }

  // The last lines of a pod, as printed but without prefix.
  static constexpr std::size_t kKeptLines = 20;
  std::vector<std::string> last_lines(const std::string& pod_uid) const;
  // What the server said when it would not give a log.
  const std::string& refusal() const { return refusal_; }

 private:
  struct Log {
    explicit Log(std::string name) : prefix(std::move(name)) {}
    std::string prefix;
    std::string pod_uid;
    Lines lines{kLongestLogLine};
    int status = 0;
    std::string answer;  // of a server that refuses
    std::unique_ptr<client::Transport::Stream> stream;
  };
  void print(const Log& log, std::string_view line);
  void ended(Log& log);
  std::string name_of(const PodFacts& pod, const std::string& container) const;

  client::Client& client_;
  std::string ns_;
  std::string job_set_;
  LogOptions options_;
  Print print_;
  Task idle_;
  std::map<std::string, std::unique_ptr<Log>> logs_;     // by pod, container and run
  std::map<std::string, std::deque<std::string>> kept_;  // by pod
  std::string refusal_;
  int open_ = 0;
};

}  // namespace muster::cli
