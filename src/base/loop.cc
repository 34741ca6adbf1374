// The real loop: one epoll, an eventfd that post() and stop() write to, and the monotonic clock.
#include "base/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <unordered_map>

#include "base/paced_loop.h"
#include "base/result.h"
#include "base/task_queue.h"

namespace muster {
namespace {

constexpr std::size_t kEventsPerWait = 64;

class RealLoop final : public Loop {
 public:
  explicit RealLoop(Duration gap)
      : pace_(gap),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    MUSTER_ASSERT(epoll_ >= 0 && wake_ >= 0, "no descriptors left for an event loop");
    add_to_epoll(wake_, 0);
  }

  ~RealLoop() override {
    watches_.clear();
    batch_.clear();
    drop_all(tasks_, timers_);
    close(wake_);
    close(epoll_);
  }

  const Clock& clock() const override { return real_clock(); }
  Duration monotonic() const override { return monotonic_now(); }

  void post(Task task) override {
    if (tasks_.push(std::move(task))) wake();
  }

  TimerId after(Duration delay, Task task) override {
    return timers_.add(deadline_after(monotonic_now(), delay), std::move(task));
  }

  void cancel(TimerId timer) override { timers_.cancel(timer); }

  void watch_readable(int fd, std::function<void()> ready) override {
    MUSTER_ASSERT(!watches_.contains(fd), "a descriptor has one watcher");
    const std::uint32_t generation = ++generation_;
    watches_[fd] = Watch{generation, std::make_shared<std::function<void()>>(std::move(ready))};
    add_to_epoll(fd, generation);
  }

  void unwatch(int fd) override {
    if (watches_.erase(fd) > 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  }

  void run() override {
    while (!stopped_.exchange(false)) {
      if (!run_tasks()) continue;  // stopped
      if (!run_timers()) continue;
      pace_.pause();
      wait();
    }
  }

  void stop() override {
    stopped_ = true;
    wake();
  }

 private:
  struct Watch {
    std::uint32_t generation;
    std::shared_ptr<std::function<void()>> ready;  // shared: it may unwatch itself while it runs
  };

  // The generation tells an event of this watch from one of an earlier watch of the same number.
  void add_to_epoll(int fd, std::uint32_t generation) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
    const int failed = epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    MUSTER_ASSERT(failed == 0, "a descriptor that cannot be watched");
  }

  void wake() {
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then the loop is awake anyway.
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }

  // False if stop() was called; what is left is put back for the next run().
  bool run_tasks() {
    if (next_ == batch_.size()) {
      batch_ = tasks_.take_all();
      next_ = 0;
    }
    while (next_ < batch_.size()) {
      Task task = std::move(batch_[next_++]);
      task();
      if (stopped_) return false;
    }
    batch_.clear();
    next_ = 0;
    return true;
  }

  // Those that are due now; timers set meanwhile wait for the next round, however short they are.
  bool run_timers() {
    const Duration now = monotonic_now();
    const std::uint64_t limit = timers_.next_id();
    while (Task task = timers_.take_due(now, limit)) {
      task();
      if (stopped_) return false;
    }
    return true;
  }

  int wait_ms() const {
    const auto next = timers_.next_deadline();
    if (!next) return -1;
    const Duration left = *next - monotonic_now();
    if (left <= Duration::zero()) return 0;
    constexpr std::chrono::milliseconds kLongest(std::numeric_limits<int>::max());
    return static_cast<int>(
        std::min(std::chrono::ceil<std::chrono::milliseconds>(left), kLongest).count());
  }

  void wait() {
    std::array<epoll_event, kEventsPerWait> events;
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_ms());
    MUSTER_ASSERT(count >= 0 || errno == EINTR, "epoll_wait failed");
    for (int i = 0; i < count && !stopped_; ++i) dispatch(events[static_cast<std::size_t>(i)]);
  }

  void dispatch(const epoll_event& event) {
    const int fd = static_cast<int>(event.data.u64 & 0xFFFFFFFF);
    if (fd == wake_) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof count);
      return;
    }
    const auto watch = watches_.find(fd);
    if (watch == watches_.end() || watch->second.generation != event.data.u64 >> 32) return;
    const auto ready = watch->second.ready;
    (*ready)();
  }

  MinimumGap pace_;
  const int epoll_;
  const int wake_;
  std::atomic<bool> stopped_ = false;
  TaskQueue tasks_;
  TimerQueue timers_;
  std::vector<Task> batch_;  // taken from tasks_, run up to next_
  std::size_t next_ = 0;
  std::unordered_map<int, Watch> watches_;
  std::uint32_t generation_ = 0;
};

}  // namespace

std::unique_ptr<Loop> make_real_loop() { return make_paced_loop(Duration::zero()); }
std::unique_ptr<Loop> make_paced_loop(Duration gap) { return std::make_unique<RealLoop>(gap); }

}  // namespace muster
