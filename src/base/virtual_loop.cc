#include <atomic>
#include <deque>

#include "base/loop.h"
#include "base/result.h"
#include "base/task_queue.h"

namespace muster {
namespace {

class VirtualLoopImpl final : public VirtualLoop {
 public:
  explicit VirtualLoopImpl(Time start) : clock_(start) {}
  ~VirtualLoopImpl() override {
    batch_.clear();
    drop_all(tasks_, timers_);
  }

  const Clock& clock() const override { return clock_; }
  Duration monotonic() const override { return clock_.now().time_since_epoch() - jumps_; }
  void post(Task task) override { tasks_.push(std::move(task)); }
  void cancel(TimerId timer) override { timers_.cancel(timer); }

  TimerId after(Duration delay, Task task) override {
    return timers_.add(deadline_after(monotonic(), delay), std::move(task));
  }

  void watch_readable(int, std::function<void()>) override {
    MUSTER_ASSERT(false, "there are no descriptors in virtual time");
  }
  void unwatch(int) override {}

  void run() override {
    while (step(Duration::max())) {
    }
    stopped_ = false;
  }

  void run_for(Duration span) override {
    const Duration end = deadline_after(monotonic(), span);
    while (step(end)) {
    }
    if (!stopped_.exchange(false)) clock_.advance(end - monotonic());
  }

  void set_clock(Duration ahead) override {
    clock_.advance(ahead);
    jumps_ += ahead;
  }

  void stop() override { stopped_ = true; }

 private:
  // Runs one task, or else the next timer up to `end`; false when there is neither or it is
  // stopped.
  bool step(Duration end) {
    if (stopped_) return false;
    if (Task task = next_task()) {
      task();
      return true;
    }
    const auto deadline = timers_.next_deadline();
    if (!deadline || *deadline > end) return false;
    if (*deadline > monotonic()) clock_.advance(*deadline - monotonic());
    timers_.take_due(*deadline, timers_.next_id())();
    return true;
  }

  Task next_task() {
    if (batch_.empty())
      for (Task& task : tasks_.take_all()) batch_.push_back(std::move(task));
    if (batch_.empty()) return {};
    Task task = std::move(batch_.front());
    batch_.pop_front();
    return task;
  }

  ManualClock clock_;
  Duration jumps_{};  // all that the clock was set ahead
  TaskQueue tasks_;
  TimerQueue timers_;
  std::deque<Task> batch_;  // taken from tasks_ and not yet run
  std::atomic<bool> stopped_ = false;
};

}  // namespace

std::unique_ptr<VirtualLoop> make_virtual_loop(Time start) {
  return std::make_unique<VirtualLoopImpl>(start);
}

}  // namespace muster
