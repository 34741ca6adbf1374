// Reads the logs that it is told to read (log_book.h says which) and tells their lines.
//
// A stream that is cut, by a restart of the server say, is opened again where it was: no line is
// lost or told twice, and the log has not ended meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/follow/lines.h"
#include "cli/follow/log_book.h"
#include "cli/follow/log_position.h"
#include "client/client.h"

namespace muster::cli {

class LogStreams {
 public:
  struct Events {
    std::function<void(const LogRun& log, const LogPosition::Line& line)> line;
    // No more of it. `refusal` says why the server would not give it, or all of it; may be empty.
    std::function<void(const LogRun& log, const std::string& refusal)> ended;
  };

  LogStreams(client::Client& client, std::string ns, LogOptions options, Events events);
  ~LogStreams();
  LogStreams(const LogStreams&) = delete;

  void read(LogRun run);
  // While this says so nothing is told: a stream that has something to say is given up, and opened
  // again where it was by go_on().
  void hold_while(std::function<bool()> is_full) { is_full_ = std::move(is_full); }
  void go_on();

 private:
  struct Log {
    explicit Log(LogRun what) : run(std::move(what)), newest_run(run.run) {}
    const LogRun run;
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
    std::int64_t newest_run;  // of the container, as far as we know
    std::string held;         // what has come before the proof
    std::optional<Status> held_end;
    TimerId retry = TimerId::kNone;
    bool is_held = false;  // until go_on()
  };
  void open(Log& log);
  std::string target_of(Log& log) const;
  void took_head(Log& log, int status);
  void took_data(Log& log, std::string_view data);
  void took_end(Log& log, Status why);
  void prove(Log& log);
  void proven(Log& log, const Result<std::string>& pod);
  void open_again(Log& log, Duration pause);
  bool must_wait(const Log& log) const;
  void hold(Log& log);
  void drop_stream(Log& log);
  void over(Log& log, const std::string& refusal = {});

  client::Client& client_;
  std::string ns_;
  LogOptions options_;
  Events events_;
  std::function<bool()> is_full_;
  std::vector<std::unique_ptr<Log>> logs_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::cli
