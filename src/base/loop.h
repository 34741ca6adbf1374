// An event loop: tasks, timers and file descriptors, in real or in virtual time.
//
// Everything but post() is called on the loop's own thread. Tasks run in the order in which they
// were posted; timers that are due at the same instant run in the order in which they were set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace muster {

using Task = std::move_only_function<void()>;

// More tasks than this waiting in one loop means that somebody posts without a bound of their own.
inline constexpr std::size_t kMaxPostedTasks = 4 << 20;

enum class TimerId : std::uint64_t { kNone = 0 };

class Loop {
 public:
  virtual ~Loop() = default;

  virtual const Clock& clock() const = 0;
  // What timers go by: it does not jump when somebody sets the clock. Spans are measured with it,
  // and the clock is for what people or other machines read. From any thread.
  virtual Duration monotonic() const = 0;
  virtual void post(Task task) = 0;                      // from any thread
  virtual TimerId after(Duration delay, Task task) = 0;  // a delay below 0 counts as 0
  virtual void cancel(TimerId timer) = 0;                // unknown or past timers are ignored

  // Calls `ready` whenever the descriptor can be read (level-triggered), until unwatch().
  virtual void watch_readable(int fd, std::function<void()> ready) = 0;
  virtual void unwatch(int fd) = 0;

  virtual void run() = 0;  // until stop(), on the calling thread
  // From any thread. The task at hand ends, what is left waits for the next run(). A stop() that
  // comes before run() is not lost: that run() returns at once.
  virtual void stop() = 0;
};

// epoll and a monotonic timer queue.
std::unique_ptr<Loop> make_real_loop();

// Virtual time: run() jumps from timer to timer and returns when nothing is left or stop() is
// called. watch_readable() is not available.
class VirtualLoop : public Loop {
 public:
  virtual void run_for(
      Duration span) = 0;  // runs what is due within the span, then stands at its end
  virtual void set_clock(Duration ahead) = 0;  // it jumps, and neither monotonic() nor a timer does
};
std::unique_ptr<VirtualLoop> make_virtual_loop(Time start);

}  // namespace muster
