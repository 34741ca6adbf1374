#include "net/http_server.h"

#include <algorithm>
#include <future>

#include "base/log.h"
#include "net/certificates.h"
#include "net/connection.h"
#include "net/worker.h"

namespace muster::net {
namespace {

// Connections taken per wake-up, so that a storm of them does not starve those that exist.
constexpr int kAcceptBatch = 64;
// Connections beyond the limit that may wait for their worker to make room.
constexpr std::size_t kMaxAhead = 256;
// How long nothing is accepted after the process has run out of descriptors.
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

// A tenth of the shortest limit, so that none is overrun by much, but not busier than needed.
Duration tick_for(const ServerLimits& limits) {
  const Duration shortest =
      std::min({limits.handshake, limits.header, limits.body, limits.idle, limits.write});
  return std::clamp(shortest / 10, Duration(std::chrono::milliseconds(2)),
                    Duration(std::chrono::seconds(1)));
}

// Accepts on the first worker's thread and deals the connections out in turn. One socket without
// SO_REUSEPORT: watches live for long, and hashing would spread them unevenly over few threads.
class Listener final : public Descriptor::Owner, public std::enable_shared_from_this<Listener> {
 public:
  Listener(ServerShared& shared, Reactor& reactor, std::vector<std::unique_ptr<Worker>>& workers,
           UniqueFd fd)
      : shared_(shared), workers_(workers), socket_(reactor, std::move(fd)), pause_(reactor) {}

  void start() { socket_.when_readable(shared_from_this()); }
  void close() {
    pause_.cancel();
    socket_.close();
  }

 private:
  void on_writable() override {}
  void on_readable() override {
    for (int i = 0; i < kAcceptBatch; ++i) {
      Result<Accepted> accepted = accept_from(socket_.fd());
      if (!accepted) return pause(accepted.error());
      if (!accepted->fd.valid()) break;
      deal(*std::move(accepted));
    }
    start();
  }

  void deal(Accepted accepted) {
    ++shared_.accepted_connections;
    // The worker makes room, but it may be behind with that.
    if (shared_.open_connections >= shared_.options.limits.connections + kMaxAhead) {
      ++shared_.refused_connections;
      return;
    }
    ++shared_.open_connections;
    workers_[next_++ % workers_.size()]->adopt(std::move(accepted));
  }

  void pause(const Error& error) {
    log::warn("not accepting connections for a moment", {{"reason", error.message}});
    for (const auto& worker : workers_) worker->make_room();
    pause_.start(kAcceptPause, [this] { start(); });
  }

  ServerShared& shared_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  Descriptor socket_;
  Timer pause_;
  std::size_t next_ = 0;
};

class HttpServerImpl final : public HttpServer {
 public:
  HttpServerImpl(ServerOptions options, http::Handler handler, TlsContext tls)
      : shared_{.options = options,
                .handler = std::move(handler),
                .tls = std::move(tls),
                .check = RequestCheck(options.allowed_hosts),
                .tick = tick_for(options.limits),
                .bodies = BytePool({.total = options.limits.total_body_bytes,
                                    .per_address = options.limits.address_body_bytes,
                                    .per_identity = options.limits.identity_body_bytes,
                                    .patience = options.limits.body_patience})} {}
  ~HttpServerImpl() override { stop(); }

  Status listen() {
    const ServerOptions& options = shared_.options;
    MUSTER_TRY(UniqueFd fd, listen_on({options.address, options.port}));
    MUSTER_TRY(port_, local_port(fd.get()));
    for (int i = 0; i < std::max(1, options.threads); ++i) {
      MUSTER_TRY(auto reactor, Reactor::start());
      if (!reactor_) reactor_ = reactor;
      workers_.push_back(std::make_unique<Worker>(shared_, std::move(reactor)));
    }
    reactor_->post([this, socket = std::move(fd)]() mutable {
      listener_ = std::make_shared<Listener>(shared_, *reactor_, workers_, std::move(socket));
      listener_->start();
    });
    return {};
  }

  std::uint16_t port() const override { return port_; }

  ServerStats stats() const override {
    return {.open_connections = shared_.open_connections,
            .running_exchanges = shared_.running_exchanges,
            .accepted_connections = shared_.accepted_connections,
            .refused_connections = shared_.refused_connections,
            .shed_connections = shared_.shed_connections,
            .failed_handshakes = shared_.failed_handshakes,
            .timed_out_connections = shared_.timed_out_connections,
            .requests = shared_.requests,
            .refused_requests = shared_.refused_requests};
  }

  Status renew(const KeyPair& certificate, const std::string& client_ca_pem) override {
    MUSTER_TRY(TlsContext tls, make_server_tls({.certificate_pem = certificate.certificate_pem,
                                                .private_key_pem = certificate.private_key_pem,
                                                .client_ca_pem = client_ca_pem}));
    const std::lock_guard lock(shared_.tls_mutex);
    shared_.tls = std::move(tls);
    return {};
  }

  void stop() override {
    if (std::exchange(stopped_, true)) return;
    if (reactor_) close_listener();
    for (const auto& worker : workers_) worker->drain();
    {
      std::unique_lock lock(shared_.mutex);
      shared_.all_gone.wait_for(lock, shared_.options.limits.grace,
                                [this] { return shared_.open_connections == 0; });
    }
    for (const auto& worker : workers_) worker->stop();
  }

 private:
  // Returns when it is closed: what was accepted before has then been dealt out.
  void close_listener() {
    std::promise<void> closed;
    reactor_->post([&] {
      if (listener_) listener_->close();
      listener_.reset();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  ServerShared shared_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::shared_ptr<Reactor> reactor_;  // the first worker's, which also accepts
  std::shared_ptr<Listener> listener_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(ServerOptions options,
                                                      http::Handler handler) {
  MUSTER_TRY(TlsContext tls, make_server_tls({.certificate_pem = options.certificate_pem,
                                              .private_key_pem = options.private_key_pem,
                                              .client_ca_pem = options.client_ca_pem}));
  auto server =
      std::make_unique<HttpServerImpl>(std::move(options), std::move(handler), std::move(tls));
  MUSTER_CHECK(server->listen());
  return server;
}

}  // namespace muster::net
