// Keys that want attention, each at most once: first come, first served, with back-off for those
// that fail.
//
// Fair between namespaces: they take turns, so that one with ten thousand changes does not hold up
// another with one. Within a namespace groups of keys take turns likewise, if the owner of the
// queue names them: the Jobs of one JobSet do not hold up those of another. A key that is added
// while it is being worked on comes again afterwards. Spans are counted by Loop::monotonic().
// Used on one loop only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/lifetime.h"
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
  // The group of a key that is about to wait.
  using GroupOf = std::function<std::string(const QueueKey&)>;
  static constexpr Duration kLongestBackoff = std::chrono::seconds(1000);
  WorkQueue(Loop& loop, int width, Work work, Duration longest_backoff = kLongestBackoff,
            GroupOf group_of = {})
      : loop_(loop),
        width_(width),
        work_(std::move(work)),
        longest_backoff_(longest_backoff),
        group_of_(std::move(group_of)) {}
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
  GroupOf group_of_;
  // The keys of one namespace, by group.
  struct Line {
    std::map<std::string, std::deque<QueueKey>> groups;
    std::string last_group;
  };
  std::map<std::string, Line> turns_;  // by namespace
  std::string last_turn_;
  std::set<QueueKey> queued_;
  std::set<QueueKey> active_;
  std::set<QueueKey> again_;  // added while active
  struct Wish {
    Duration at;
    TimerId timer;
  };
  std::map<QueueKey, Wish> wishes_;
  std::map<QueueKey, int> failures_;
  std::map<QueueKey, Duration> not_before_;
  bool pumping_ = false;
  Lifetime lifetime_;
};

}  // namespace muster::client
