// One thread that waits for sockets and timers and runs what was posted to it. The only face of
// Asio: reactor.cc alone includes it, and everything above is plain code that compiles fast.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/result.h"
#include "net/socket.h"

namespace muster::net {

class Reactor {
 public:
  struct Impl;
  // With its thread, which keeps its rounds apart (base/paced_loop.h).
  static Result<std::shared_ptr<Reactor>> start(Duration gap = {});
  ~Reactor();  // stops

  // From any thread. Tasks run in the order in which they were posted; after stop() they are
  // dropped.
  void post(Task task);

  // Looks the name up on a thread of its own and calls back on the reactor's.
  using Resolved = std::move_only_function<void(Result<std::vector<Endpoint>>)>;
  void resolve(const std::string& host, std::uint16_t port, Resolved done);

  // Ends the thread, then drops all that waits. Descriptors and timers have to be gone by then,
  // except those that only a waiting task or callback still holds. Not on the reactor's thread.
  void stop();

  Impl& impl() { return *impl_; }

 private:
  explicit Reactor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A nonblocking socket that a reactor waits for. Used on the reactor's thread only.
class Descriptor {
 public:
  // Who is told. Held while a wait is under way.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_readable() = 0;
    virtual void on_writable() = 0;
  };

  // If the reactor cannot take it, the socket behaves like one that is closed.
  Descriptor(Reactor& reactor, UniqueFd fd);
  ~Descriptor();

  int fd() const;  // -1 if closed
  // Each calls once. At most one wait of each kind may be under way.
  void when_readable(std::shared_ptr<Owner> owner);
  void when_writable(std::shared_ptr<Owner> owner);
  void close();  // also drops the waits

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One alarm at a time. Used on the reactor's thread only.
class Timer {
 public:
  explicit Timer(Reactor& reactor);
  ~Timer();  // cancels

  void start(Duration delay, Task task);  // replaces what was started before
  void cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net
