#include "net/reactor.h"

// ThreadSanitizer does not know fences; the queue's mutex orders what they would order.
#ifdef __SANITIZE_THREAD__
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>

#include "base/paced_loop.h"

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;  // concrete: no type erasure per operation
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

struct Reactor::Impl {
  // The hint 1 keeps what the thread posts to itself off the shared queue.
  std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>(1);
  std::mutex mutex;  // guards stopped against posts
  bool stopped = false;
  std::thread thread;
};

Reactor::Reactor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::shared_ptr<Reactor>> Reactor::start(Duration gap) try {
  std::shared_ptr<Reactor> reactor(new Reactor(std::make_unique<Impl>()));
  // Asio opens what it waits with at the first use, which may find no descriptor left and throw
  // on a thread that nobody looks at. Here it is a server that does not start.
  const asio::steady_timer first_use(*reactor->impl_->context);
  reactor->impl_->thread = std::thread([context = reactor->impl_->context.get(), gap] {
    const auto work = asio::make_work_guard(*context);
    if (gap == Duration::zero()) {
      context->run();
      return;
    }
    MinimumGap pace(gap);
    while (context->run_one() > 0) {
      context->poll();
      pace.pause();
    }
  });
  return reactor;
} catch (const std::runtime_error& error) {  // out of descriptors (Boost's) or threads (std's)
  return fail(Code::kUnavailable, std::string("cannot start an I/O thread: ") + error.what());
}

Reactor::~Reactor() { stop(); }

void Reactor::post(Task task) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->stopped) asio::post(*impl_->context, std::move(task));
}

void Reactor::resolve(const std::string& host, std::uint16_t port, Resolved done) {
  const auto resolver = std::make_shared<Resolver>(*impl_->context);
  const auto answer = std::make_shared<Resolved>(std::move(done));
  try {
    resolver->async_resolve(
        host, std::to_string(port), [resolver, host, answer](error_code error, const auto& found) {
          if (error) {
            (*answer)(fail(Code::kUnavailable, "cannot find " + host + ": " + error.message()));
            return;
          }
          std::vector<Endpoint> endpoints;
          for (const auto& entry : found) {
            endpoints.push_back({entry.endpoint().address().to_string(), entry.endpoint().port()});
          }
          (*answer)(std::move(endpoints));
        });
  } catch (const std::runtime_error& error) {  // no thread to look it up on
    const std::string why = "cannot find " + host + ": " + error.what();
    post([answer, why] { (*answer)(fail(Code::kUnavailable, why)); });
  }
}

void Reactor::stop() {
  {
    const std::lock_guard lock(impl_->mutex);
    if (std::exchange(impl_->stopped, true)) return;
  }
  impl_->context->stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->context.reset();
}

struct Descriptor::Impl {
  Impl(Reactor& reactor, UniqueFd fd) : stream(*reactor.impl().context) {
    error_code error;
    stream.assign(fd.get(), error);
    if (!error) fd.release();
  }
  asio::posix::basic_stream_descriptor<Executor> stream;
};

Descriptor::Descriptor(Reactor& reactor, UniqueFd fd)
    : impl_(std::make_unique<Impl>(reactor, std::move(fd))) {}
Descriptor::~Descriptor() = default;

int Descriptor::fd() const { return impl_->stream.is_open() ? impl_->stream.native_handle() : -1; }

// Any error but our own close() is left for the next read or write to find.

void Descriptor::when_readable(std::shared_ptr<Owner> owner) {
  impl_->stream.async_wait(asio::posix::descriptor_base::wait_read,
                           [owner = std::move(owner)](error_code error) {
                             if (error != asio::error::operation_aborted) owner->on_readable();
                           });
}

void Descriptor::when_writable(std::shared_ptr<Owner> owner) {
  impl_->stream.async_wait(asio::posix::descriptor_base::wait_write,
                           [owner = std::move(owner)](error_code error) {
                             if (error != asio::error::operation_aborted) owner->on_writable();
                           });
}

void Descriptor::close() {
  error_code ignored;
  impl_->stream.close(ignored);
}

struct Timer::Impl {
  explicit Impl(Reactor& reactor) : timer(*reactor.impl().context) {}
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>, Executor>
      timer;
  Task task;
  std::uint64_t started = 0;  // tells an alarm that was replaced after it went off
};

Timer::Timer(Reactor& reactor) : impl_(std::make_shared<Impl>(reactor)) {}
Timer::~Timer() { cancel(); }

void Timer::start(Duration delay, Task task) {
  cancel();
  impl_->task = std::move(task);
  impl_->timer.expires_after(delay);
  impl_->timer.async_wait([impl = std::weak_ptr(impl_), turn = impl_->started](error_code error) {
    const auto alive = impl.lock();
    if (error || !alive || alive->started != turn) return;
    Task due = std::exchange(alive->task, nullptr);
    due();
  });
}

void Timer::cancel() {
  ++impl_->started;
  impl_->timer.cancel();
  impl_->task = nullptr;
}

}  // namespace muster::net
