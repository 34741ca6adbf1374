// What real and virtual loops have in common: posted tasks and timers, without the waiting.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/loop.h"

namespace muster {

// Tasks in the order posted. Callable from any thread.
class TaskQueue {
 public:
  bool push(Task task);  // true if the queue was empty before
  std::vector<Task> take_all();

 private:
  std::mutex mutex_;
  std::vector<Task> tasks_;
};

// Timers by deadline, then in the order set. `Duration` counts from whatever epoch the owner uses.
class TimerQueue {
 public:
  TimerId add(Duration deadline, Task task);
  void cancel(TimerId timer);
  std::optional<Duration> next_deadline() const;
  // Removes the first timer that is due at `now` and was set before `limit` (see next_id()), or
  // gives an empty task.
  Task take_due(Duration now, std::uint64_t limit);
  std::uint64_t next_id() const { return next_id_; }

 private:
  using Key = std::pair<Duration, std::uint64_t>;
  std::map<Key, Task> timers_;
  std::unordered_map<std::uint64_t, Duration> deadlines_;
  std::uint64_t next_id_ = 1;
};

// For the end of a loop: nothing of it happens any more. What a dropped task held may post and set
// timers once more as it goes.
void drop_all(TaskQueue& tasks, TimerQueue& timers);

// now + delay, neither in the past nor past the end of time.
Duration deadline_after(Duration now, Duration delay);

}  // namespace muster
