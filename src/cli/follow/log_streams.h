// The logs of many pods as whole lines on one screen, each behind the name of its process. Streams
// are opened as containers start, also those of pods that are born later and of further runs.
//
// A stream that is cut, by a restart of the server say, is opened again where it was: no line is
// lost or told twice. While it is not, open() counts it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/follow/lines.h"
#include "cli/follow/log_position.h"
#include "client/client.h"
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

class LogStreams {
 public:
  using Print = std::function<void(std::string_view line)>;

  // `job_set` is cut from the names; may be empty.
  LogStreams(client::Client& client, std::string ns, std::string job_set, LogOptions options,
             Print print);
  ~LogStreams();
  LogStreams(const LogStreams&) = delete;

  // Opens what has been started since the last look at this pod.
  void look(const story::PodFacts& pod);
  // Called when the last open stream has ended.
  void on_idle(Task task) { idle_ = std::move(task); }
  int open() const { return open_; }
  // While this says so nothing is printed: a stream that has something to say is given up, and
  // opened again where it was by go_on().
  void hold_while(std::function<bool()> is_full) { is_full_ = std::move(is_full); }
  void go_on();

  // The last lines of a pod, as printed but without prefix.
  static constexpr std::size_t kKeptLines = 20;
  std::vector<std::string> last_lines(const std::string& pod_uid) const;
  // What the server said when it would not give a log: the last time, and each time.
  const std::string& refusal() const { return refusal_; }
  void on_refusal(std::function<void(const std::string& name, const std::string& why)> told) {
    refused_ = std::move(told);
  }

 private:
  struct Log {
    Log(const story::PodFacts& pod, const story::PodFacts::Log& container, std::string shown_name);
    const std::string pod, uid, container;
    const std::int64_t run;  // how often the container had been started before
    const std::string prefix;
    LogPosition position{kLongestLogLine};
    // Of the stream at hand.
    std::unique_ptr<client::Transport::Stream> stream;
    int stream_number = 0;
    int status = 0;
    std::string answer;  // of a server that refuses
    int refusals = 0;    // one after the other
    bool has_begun = false;
    // A stream that was opened again is looked at only when it is proven to be of the same run:
    // the container may have been started again meanwhile.
    bool is_proven = true;
    std::int64_t newest_run = 0;  // of the container, as far as we know
    std::string held;             // what has come before the proof
    std::optional<Status> held_end;
    TimerId retry = TimerId::kNone;
    bool is_held = false;  // until go_on()
    bool is_over = false;
  };
  void open(Log& log);
  std::string target_of(Log& log) const;
  void took_head(Log& log, int status);
  void took_data(Log& log, std::string_view data);
  void took_end(Log& log, Status why);
  void refused(const Log& log, std::string why);
  void prove(Log& log);
  void proven(Log& log, const Result<std::string>& pod);
  void open_again(Log& log, Duration pause);
  bool must_wait(const Log& log) const;
  void hold(Log& log);
  void drop_stream(Log& log);
  void print(const Log& log, const LogPosition::Line& line);
  void over(Log& log);
  std::string name_of(const story::PodFacts& pod, const std::string& container) const;

  client::Client& client_;
  std::string ns_;
  std::string job_set_;
  LogOptions options_;
  Print print_;
  Task idle_;
  std::function<bool()> is_full_;
  // By pod and container; a run is opened when those before it are over.
  std::map<std::string, std::vector<std::unique_ptr<Log>>> logs_;
  std::map<std::string, std::deque<std::string>> kept_;  // by pod
  std::string refusal_;
  std::function<void(const std::string&, const std::string&)> refused_;
  int open_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::cli
