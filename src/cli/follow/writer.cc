#include "cli/follow/writer.h"

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "base/thread.h"

namespace muster::cli {
namespace {

// How often it is looked at what has become of a long text.
constexpr std::size_t kPiece = 64 * 1024;

// 0, or why not all of it could be written.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // somebody else has made it so
      ::usleep(1000);
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

struct Writer::State : std::enable_shared_from_this<State> {
  State(Loop& on, int to, Events of) : descriptor(to), loop(&on), events(std::move(of)) {}

  // The thread's.
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return is_closed || !queued.empty(); });
      if (is_closed) return;
      const std::string text = std::exchange(queued, {});
      for (std::string_view rest = text; !rest.empty() && !is_closed && !has_failed;) {
        const std::string_view piece = rest.substr(0, kPiece);
        rest.remove_prefix(piece.size());
        lock.unlock();
        const int error = write_all(descriptor, piece);
        lock.lock();
        wrote(error == 0 ? piece.size() : piece.size() + rest.size(), error);
      }
    }
  }

  // With the mutex.
  void wrote(std::size_t count, int error) {
    unwritten -= count;
    if (error != 0 && !std::exchange(has_failed, true)) {
      unwritten -= std::exchange(queued, {}).size();
      tell([error](State& self) {
        if (self.events.failed) self.events.failed(error);
      });
    }
    if (was_full && unwritten <= kFull / 2) {
      was_full = false;
      tell([](State& self) {
        if (self.events.room) self.events.room();
      });
    }
    if (unwritten == 0 && std::exchange(is_awaited, false)) tell_written();
  }

  void tell_written() {
    tell([](State& self) {
      if (const auto task = std::exchange(self.written, nullptr)) task();
    });
  }

  template <class F>
  void tell(F what) {
    if (is_closed) return;
    loop->post([self = shared_from_this(), what] {
      if (!self->is_closed) what(*self);  // which changes on the loop only
    });
  }

  const int descriptor;
  std::mutex mutex;
  std::condition_variable changed;
  // With the mutex.
  std::string queued;
  std::size_t unwritten = 0;  // with what the thread has at hand
  bool is_closed = false;
  bool has_failed = false;
  bool was_full = false;
  bool is_awaited = false;
  Loop* const loop;
  // On the loop only.
  Events events;
  std::function<void()> written;
};

Writer::Writer(Loop& loop, int descriptor, Events events)
    : state_(std::make_shared<State>(loop, descriptor, std::move(events))) {
  if (auto thread = start_thread([state = state_] { state->run(); })) thread_ = *std::move(thread);
}

Writer::~Writer() {
  bool is_busy = false;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_closed = true;
    is_busy = state_->unwritten > state_->queued.size();
  }
  state_->changed.notify_one();
  if (!thread_.joinable()) return;
  // In the middle of a write it may stay there until the process ends.
  is_busy ? thread_.detach() : thread_.join();
}

void Writer::write(std::string text) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->has_failed || state_->unwritten + text.size() > kMost) return;
  state_->unwritten += text.size();
  if (!thread_.joinable()) {  // the system has no more threads for us
    return state_->wrote(text.size(), write_all(state_->descriptor, text));
  }
  state_->queued += text;
  if (state_->unwritten >= kFull) state_->was_full = true;
  state_->changed.notify_one();
}

std::size_t Writer::unwritten() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->unwritten;
}

void Writer::when_written(std::function<void()> task) {
  state_->written = std::move(task);
  const std::scoped_lock lock(state_->mutex);
  if (state_->unwritten == 0) return state_->tell_written();
  state_->is_awaited = true;
}

}  // namespace muster::cli
