// Serves the logs of this node's containers from the files that their runs write (docs/logs.md):
// for `kubectl logs`, and the output of a running one for `kubectl attach`.
//
// Files are read on the loop, in slices, no faster than the client takes them; the disk may make it
// wait, so it is a loop of its own (LogThread). serve(), attach(), began(), ended() and
// settle() may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "agent/logs/guarded_loop.h"
#include "agent/logs/log_file.h"
#include "base/loop_thread.h"
#include "base/unique_fd.h"
#include "server/api_server.h"
#include "server/program_source.h"

namespace muster::agent {

// Where the lines of a log go. Called on the loop.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // False if the client is behind: `ready` is called when it has caught up, on any thread.
  virtual bool has_room(Task ready) = 0;
  // Whole lines, as they are in the file. False if no more are wanted.
  virtual bool take(std::string_view lines) = 0;
  virtual void end() = 0;
};

class LogReader final : public server::LogSource {
 public:
  struct Options {
    std::string directory;
    bool notify = true;  // false: as where the kernel has no more room for inotify
    // False: nothing is known of runs that go on before settle(), so that who follows a log waits.
    bool runs_are_known = true;
    // Followers whose folder the kernel does not watch for us are looked after this often.
    Duration poll_every = std::chrono::milliseconds(200);
  };
  // Made before the loop runs or on it, destroyed when it does not run any more or on it.
  LogReader(Loop& loop, Options options);
  ~LogReader() override;

  // Who follows a log is served until its run has ended. Runs that began() was not told of count
  // as ended, once all that go on from an earlier life of this node have been told (settle()).
  void began(const LogKey& key);
  void ended(const LogKey& key);
  void settle();

  void serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) override;
  void attach(const LogKey& key, std::shared_ptr<server::ProgramClient> client);

 private:
  using ReadingId = std::uint64_t;
  struct Reading {
    LogKey key;
    LogFile file;
    bool follow;
    std::unique_ptr<LogSink> sink;
    int watch = -1;          // inotify's; of the root while its folder is not there
    bool scheduled = false;  // pump() is posted
  };

  bool is_over(const LogKey& key) const;
  void answer(const Wanted& wanted, const std::shared_ptr<http::Exchange>& exchange);
  void join(const LogKey& key, const std::shared_ptr<server::ProgramClient>& client);
  void start(ReadingId id, Reading reading);
  void drop(ReadingId id);
  void schedule(ReadingId id);
  void pump(ReadingId id);
  void finish(ReadingId id);
  void watch(ReadingId id, Reading& reading);
  bool watch_root();
  void unwatch(ReadingId id, const Reading& reading);
  void on_notify();
  void folder_made(const std::string& folder);
  void poll();

  Loop& loop_;
  const Options options_;
  const std::shared_ptr<GuardedLoop> guarded_loop_;
  UniqueFd inotify_;
  ReadingId last_id_ = 0;
  std::map<ReadingId, Reading> readings_;
  std::map<int, std::set<ReadingId>> watched_;          // by inotify's number of the folder
  std::map<std::string, std::set<ReadingId>> awaited_;  // by folder that is not there yet
  int root_watch_ = -1;
  std::set<LogKey> running_;
  bool runs_are_known_;
  TimerId poll_timer_ = TimerId::kNone;
};

// A log reader with a thread of its own.
class LogThread {
 public:
  explicit LogThread(LogReader::Options options);
  ~LogThread();
  Status start() { return thread_.start(); }  // once
  LogReader& reader() { return *reader_; }

 private:
  LoopThread thread_;
  const std::unique_ptr<LogReader> reader_;
};

}  // namespace muster::agent
