// The loop of a process that can be stopped (SIGSTOP) between any two of its tasks and go on later.
// What becomes due meanwhile waits; time does not.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "base/loop.h"

namespace muster::sim {

// Outlives whatever uses it. Not for descriptors, and not to be run: the world's loop is.
class StoppableLoop final : public Loop {
 public:
  explicit StoppableLoop(Loop& world) : world_(world) {}

  bool is_stopped() const { return stopped_; }
  void stop_after(int tasks) { tasks_left_ = tasks; }  // so many more run; 0: at once
  // What came meanwhile runs now: in its order, or with all timers last, as a system may have it.
  void go_on(bool timers_last);

  const Clock& clock() const override { return world_.clock(); }
  Duration monotonic() const override { return world_.monotonic(); }
  void post(Task task) override;
  TimerId after(Duration delay, Task task) override;
  void cancel(TimerId timer) override;
  void watch_readable(int, std::function<void()>) override;
  void unwatch(int) override {}
  void run() override;
  void stop() override {}

 private:
  struct Due {
    TimerId timer;  // kNone: posted
    Task task;
  };
  void arrived(Due due);
  void wake();
  void run_next();

  Loop& world_;
  bool stopped_ = false;
  int tasks_left_ = -1;  // -1: it is not to be stopped
  std::deque<Due> due_;
  bool awake_ = false;  // run_next() is posted
  std::uint64_t last_timer_ = 0;
  std::map<TimerId, TimerId> timers_;  // of the world's loop
};

}  // namespace muster::sim
