// The lists of writes that wait for the commit thread; bounded by the number of writes and by
// bytes.
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
    std::vector<Write> list;  // never empty
    Store::ListDone done;
  };

  explicit CommitQueue(const Options& options) : options_(options) {}

  // Any thread. Takes `pending` over only if it succeeds.
  Status push(Pending& pending);
  // Wakes the taker although there is nothing to take.
  void nudge();
  // No more is let in; what is there can still be taken.
  void close();

  // As many lists as fit one group, oldest first; never a part of one. A list that exceeds a
  // group's limits by itself comes alone. If `wait`, blocks until there is something, or nudge() or
  // close().
  std::vector<Pending> take(bool wait);
  bool drained() const;      // closed and empty
  std::size_t size() const;  // in writes

 private:
  struct Size {
    std::size_t writes = 0;
    std::size_t bytes = 0;
    Size& operator+=(const Size& other);
    Size& operator-=(const Size& other);
  };
  struct Waiting {
    Pending pending;
    Size size;
  };
  static Size size_of(const std::vector<Write>& list);
  Status check_list(const Size& size) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  Size size_;  // of all that wait
  bool nudged_ = false;
  bool closed_ = false;
};

}  // namespace muster::store
