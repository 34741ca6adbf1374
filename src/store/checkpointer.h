// Moves pages from the write-ahead log into the database, off the commit path.
//
// Passive checkpoints never make a writer wait, but while writers keep writing they never reach the
// end of the log either, so it would grow for ever. When it is too long, one checkpoint holds
// writers back until the log can start again at its beginning; passive ones have left it little to
// do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "store/durability.h"
#include "store/sqlite.h"

namespace muster::store {

class Checkpointer {
 public:
  static Result<std::unique_ptr<Checkpointer>> start(const std::string& database_file,
                                                     const SqliteOptions& options);
  ~Checkpointer();

  // After each transaction, by its thread: how long the log is now. Returns at once unless it is
  // far too long.
  void log_is(std::uint64_t bytes);
  // Not empty if a checkpoint has failed in a way that makes the disk untrustworthy.
  std::string fault() const;

 private:
  Checkpointer(sqlite::Database connection, const SqliteOptions& options);
  void run();
  bool due(std::uint64_t bytes) const;  // under mutex_
  void checkpoint(std::uint64_t bytes);

  const SqliteOptions options_;
  sqlite::Database connection_;  // used by the thread alone

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_at_;       // the log's length at which the next checkpoint begins
  std::uint64_t finished_ = 0;  // checkpoints, successful or not
  bool stopping_ = false;
  std::string fault_;
  std::thread thread_;
};

}  // namespace muster::store
