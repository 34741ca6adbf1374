// The writes that wait for the commit thread; bounded by number and by bytes.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace muster::store {

class CommitQueue {
 public:
  struct Pending {
    Write write;
    Store::Done done;
  };

  explicit CommitQueue(const Options& options) : options_(options) {}

  // Any thread. Takes `pending` over only if it succeeds.
  Status push(Pending& pending);
  // Wakes the taker although there is nothing to take.
  void nudge();
  // No more is let in; what is there can still be taken.
  void close();

  // As much as fits one group, oldest first. If `wait`, blocks until there is something, or nudge()
  // or close().
  std::vector<Pending> take(bool wait);
  bool drained() const;  // closed and empty
  std::size_t size() const;

 private:
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Pending> waiting_;
  std::size_t bytes_ = 0;
  bool nudged_ = false;
  bool closed_ = false;
};

}  // namespace muster::store
