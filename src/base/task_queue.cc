#include "base/task_queue.h"

#include "base/result.h"

namespace muster {

bool TaskQueue::push(Task task) {
  const std::lock_guard lock(mutex_);
  MUSTER_ASSERT(tasks_.size() < kMaxPostedTasks, "a loop cannot keep up with what is posted to it");
  tasks_.push_back(std::move(task));
  return tasks_.size() == 1;
}

std::vector<Task> TaskQueue::take_all() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tasks_, {});
}

TimerId TimerQueue::add(Duration deadline, Task task) {
  const std::uint64_t id = next_id_++;
  timers_.emplace(Key(deadline, id), std::move(task));
  deadlines_.emplace(id, deadline);
  return TimerId(id);
}

void TimerQueue::cancel(TimerId timer) {
  const auto known = deadlines_.find(std::to_underlying(timer));
  if (known == deadlines_.end()) return;
  timers_.erase(Key(known->second, known->first));
  deadlines_.erase(known);
}

std::optional<Duration> TimerQueue::next_deadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.first;
}

Task TimerQueue::take_due(Duration now, std::uint64_t limit) {
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now; ++it) {
    if (it->first.second >= limit) continue;
    Task task = std::move(it->second);
    deadlines_.erase(it->first.second);
    timers_.erase(it);
    return task;
  }
  return {};
}

void drop_all(TaskQueue& tasks, TimerQueue& timers) {
  for (bool is_empty = false; !is_empty;) {
    const std::vector<Task> posted = tasks.take_all();
    const TimerQueue set = std::exchange(timers, {});
    is_empty = posted.empty() && !set.next_deadline();
  }
}

Duration deadline_after(Duration now, Duration delay) {
  if (delay <= Duration::zero()) return now;
  return delay > Duration::max() - now ? Duration::max() : now + delay;
}

}  // namespace muster
