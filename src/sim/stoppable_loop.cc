#include "sim/stoppable_loop.h"

#include <algorithm>

#include "base/result.h"

namespace muster::sim {

void StoppableLoop::post(Task task) { arrived({.timer = TimerId::kNone, .task = std::move(task)}); }

TimerId StoppableLoop::after(Duration delay, Task task) {
  const auto own = static_cast<TimerId>(++last_timer_);
  timers_[own] = world_.after(delay, [this, own, task = std::move(task)]() mutable {
    timers_.erase(own);
    arrived({.timer = own, .task = std::move(task)});
  });
  return own;
}

void StoppableLoop::cancel(TimerId timer) {
  if (timer == TimerId::kNone) return;
  if (const auto found = timers_.find(timer); found != timers_.end()) {
    world_.cancel(found->second);
    timers_.erase(found);
  }
  std::erase_if(due_, [timer](const Due& due) { return due.timer == timer; });
}

void StoppableLoop::arrived(Due due) {
  due_.push_back(std::move(due));
  wake();
}

void StoppableLoop::wake() {
  if (due_.empty() || std::exchange(awake_, true)) return;
  world_.post([this] { run_next(); });
}

// One at a time, so that it can be stopped between any two.
void StoppableLoop::run_next() {
  awake_ = false;
  if (tasks_left_ == 0) stopped_ = true;
  if (stopped_ || due_.empty()) return;
  if (tasks_left_ > 0) --tasks_left_;
  Due due = std::move(due_.front());
  due_.pop_front();
  due.task();
  wake();
}

void StoppableLoop::go_on(bool timers_last) {
  stopped_ = false;
  tasks_left_ = -1;
  if (timers_last)
    std::ranges::stable_partition(due_, [](const Due& due) { return due.timer == TimerId::kNone; });
  wake();
}

void StoppableLoop::watch_readable(int, std::function<void()>) {
  MUSTER_ASSERT(false, "a simulated process has no descriptors");
}

void StoppableLoop::run() { MUSTER_ASSERT(false, "the world's loop is run"); }

}  // namespace muster::sim
