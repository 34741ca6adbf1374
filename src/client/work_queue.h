// Keys that want attention, each at most once: first come, first served, with back-off for those
// that fail.
//
// Fair between namespaces: they take turns, so that one with ten thousand changes does not hold up
// another with one. A key that is added while it is being worked on comes again afterwards. Used on
// one loop only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/loop.h"

namespace muster::client {

struct QueueKey {
  std::string ns;
  std::string name;
  auto operator<=>(const QueueKey&) const = default;
};

class WorkQueue {
 public:
  // `work` is called on the loop, one key at a time unless `width` allows more; it must call
  // done(key) in the end.
  using Work = std::function<void(const QueueKey&)>;
  static constexpr Duration kLongestBackoff = std::chrono::seconds(1000);
  WorkQueue(Loop& loop, int width, Work work, Duration longest_backoff = kLongestBackoff)
      : loop_(loop), width_(width), work_(std::move(work)), longest_backoff_(longest_backoff) {}
  ~WorkQueue() { *alive_ = false; }
  WorkQueue(const WorkQueue&) = delete;

  void add(const QueueKey& key);
  void add_after(const QueueKey& key, Duration delay);  // the earliest wish counts
  void add_failed(const QueueKey& key);                 // after 5 ms, 10 ms, … the longest
  int failures(const QueueKey& key) const;              // since they were last forgotten
  void forget_failures(const QueueKey& key) { failures_.erase(key); }
  // Whatever comes, not before this span is over.
  void hold_off(const QueueKey& key, Duration span);
  void done(const QueueKey& key);

  std::size_t waiting() const { return queued_.size(); }
  bool idle() const { return queued_.empty() && active_.empty(); }

 private:
  void pump();
  QueueKey take();

  Loop& loop_;
  int width_;
  Work work_;
  Duration longest_backoff_;
  std::map<std::string, std::deque<QueueKey>> turns_;  // by namespace
  std::string last_turn_;
  std::set<QueueKey> queued_;
  std::set<QueueKey> active_;
  std::set<QueueKey> again_;  // added while active
  struct Wish {
    Time at;
    TimerId timer;
  };
  std::map<QueueKey, Wish> wishes_;
  std::map<QueueKey, int> failures_;
  std::map<QueueKey, Time> not_before_;
  bool pumping_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::client
