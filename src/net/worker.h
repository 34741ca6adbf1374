// One I/O thread of the server with the connections that live on it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_pool.h"
#include "base/http.h"
#include "net/http_server.h"
#include "net/reactor.h"
#include "net/request_check.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::net {

class Connection;

// What all workers share; read by all, written only where it is atomic or locked.
struct ServerShared {
  ServerOptions options;
  http::Handler handler;
  TlsContext tls;  // under tls_mutex: it may be renewed
  RequestCheck check;
  Duration tick;  // the grain of deadlines

  BytePool bodies;
  std::atomic<std::uint64_t> open_connections = 0;
  std::atomic<std::uint64_t> running_exchanges = 0;
  std::atomic<std::uint64_t> accepted_connections = 0;
  std::atomic<std::uint64_t> refused_connections = 0;
  std::atomic<std::uint64_t> shed_connections = 0;
  std::atomic<std::uint64_t> failed_handshakes = 0;
  std::atomic<std::uint64_t> timed_out_connections = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> refused_requests = 0;

  std::mutex tls_mutex;
  TlsContext current_tls() {
    const std::lock_guard lock(tls_mutex);
    return tls;
  }

  std::mutex mutex;
  std::condition_variable all_gone;  // open_connections has fallen to zero
};

// Deadlines are counted in ticks of the worker, which looks at all its connections at each: one
// timer per thread instead of one per connection, and nothing to cancel when a request is fast.
using Tick = std::uint64_t;

class Worker {
 public:
  Worker(ServerShared& shared, std::shared_ptr<Reactor> reactor);
  ~Worker();

  // From any thread.
  void adopt(Accepted accepted);
  void make_room();  // closes connections that have been silent longest
  void drain();      // connections end when they have answered
  void stop();       // cuts what is left and returns when the thread has ended

  // For connections, on the I/O thread.
  ServerShared& shared() { return shared_; }
  const std::shared_ptr<Reactor>& reactor() { return reactor_; }
  Tick tick_after(Duration limit) const;  // never earlier than the limit
  std::string_view date();                // for the header of that name
  std::span<char> input_scratch() { return input_; }
  std::span<char> output_scratch() { return output_; }
  void forget(Connection& connection);
  std::uint64_t next_turn() { return ++turn_; }  // counts signs of life, to order silent ones

 private:
  static constexpr std::size_t kScratchBytes = 16 * 1024;  // one TLS record

  void sweep();
  std::size_t shed();
  void leave();

  ServerShared& shared_;
  const std::shared_ptr<Reactor> reactor_;
  std::unique_ptr<Timer> timer_;
  std::vector<std::shared_ptr<Connection>> connections_;
  Tick now_ = 1;
  std::uint64_t turn_ = 0;
  bool draining_ = false;

  std::chrono::sys_seconds date_second_{};
  std::string date_;
  std::vector<char> input_ = std::vector<char>(kScratchBytes);
  std::vector<char> output_ = std::vector<char>(kScratchBytes);
};

}  // namespace muster::net
