#include "net/http_client.h"

#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <mutex>

#include "net/client_connection.h"
#include "net/http_text.h"

namespace muster::net {
namespace {

constexpr std::size_t kScratchBytes = 16 * 1024;  // one TLS record

// Sending these twice is the same as once.
bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS";
}

class HttpClientImpl final : public HttpClient, public ClientConnection::Owner {
 public:
  HttpClientImpl(ClientOptions options, TlsContext tls, std::shared_ptr<Reactor> reactor)
      : options_(std::move(options)), tls_(std::move(tls)), reactor_(std::move(reactor)) {}
  ~HttpClientImpl() override { stop(); }

  RequestId send(ClientRequest request, ResponseEvents events) override;
  void cancel(RequestId request) override;
  void stop() override;

 private:
  using CallPtr = std::shared_ptr<Call>;
  using ConnectionPtr = std::shared_ptr<ClientConnection>;

  // The connections to one endpoint, and the calls that wait for one of them. Calls that share
  // connections and calls that want one of their own have a pool each.
  struct PoolKey {
    std::string endpoint;
    bool own = false;
    auto operator<=>(const PoolKey&) const = default;
  };
  struct Pool {
    std::vector<ConnectionPtr> free;  // the last used at the end
    std::vector<ConnectionPtr> all;
    std::deque<CallPtr> waiting;
  };

  // All on the reactor's thread.
  void begin(const CallPtr& call);
  void resume(RequestId id);
  void dispatch(const CallPtr& call);
  void end(const CallPtr& call, Status status);
  void drop(const CallPtr& call, Status status);
  static PoolKey pool_of(const Call& call) {
    return {call.url.endpoint(), call.request.own_connection};
  }
  std::size_t limit_of(const PoolKey& key) const {
    return key.own ? options_.max_own_connections : options_.max_connections;
  }
  void serve_waiting(const PoolKey& key);
  void close_everything();
  void on_free(const ConnectionPtr& connection, const CallPtr& done) override;
  void on_gone(const ConnectionPtr& connection, const CallPtr& call, Status why,
               bool stale) override;

  const ClientOptions options_;
  const TlsContext tls_;
  const std::shared_ptr<Reactor> reactor_;
  std::vector<char> input_ = std::vector<char>(kScratchBytes);
  std::vector<char> output_ = std::vector<char>(kScratchBytes);
  std::map<PoolKey, Pool> pools_;
  std::map<RequestId, CallPtr> calls_;

  std::atomic<std::uint64_t> last_id_ = 0;
  const std::shared_ptr<Deliveries> deliveries_ = std::make_shared<Deliveries>();
  std::mutex mutex_;  // no call begins after what stop() posts
  bool stopped_ = false;
};

Result<Url> check_request(const ClientRequest& request) {
  MUSTER_TRY(Url url, parse_url(request.url));
  for (const http::Header& header : request.headers) {
    if (!is_sendable(header)) {
      return fail(Code::kBadRequest, fmt::format("the header \"{}\" cannot be sent", header.first));
    }
  }
  if (!is_sendable({"Host", request.host})) return fail(Code::kBadRequest, "malformed host");
  if (!is_sendable({request.method, ""})) return fail(Code::kBadRequest, "malformed method");
  return url;
}

RequestId HttpClientImpl::send(ClientRequest request, ResponseEvents events) {
  auto call = std::make_shared<Call>();
  call->id = RequestId{++last_id_};
  call->request = std::move(request);
  call->delivery =
      Delivery::start(deliveries_, call->id, std::move(events),
                      {.post = options_.post, .resume = [this, reactor = reactor_, id = call->id] {
                         reactor->post([this, id] { resume(id); });
                       }});
  bool stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped = stopped_;
    if (!stopped) reactor_->post([this, call] { begin(call); });
  }
  if (stopped) call->delivery->end(fail(Code::kUnavailable, "the client has been stopped"));
  return call->id;
}

void HttpClientImpl::resume(RequestId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || !found->second->connection) return;
  const ConnectionPtr connection = found->second->connection;
  connection->resume();
}

void HttpClientImpl::begin(const CallPtr& call) {
  if (call->delivery->is_cancelled()) return;
  calls_.emplace(call->id, call);
  Result<Url> url = check_request(call->request);
  if (!url) return end(call, std::unexpected(std::move(url).error()));
  call->url = *std::move(url);
  if (call->request.timeout > Duration::zero()) {
    call->deadline = std::make_unique<Timer>(*reactor_);
    call->deadline->start(call->request.timeout, [this, call = call.get()] {
      drop(calls_.at(call->id),
           fail(Code::kTimeout, call->url.endpoint() + " did not answer in time"));
    });
  }
  dispatch(call);
}

void HttpClientImpl::dispatch(const CallPtr& call) {
  const PoolKey key = pool_of(*call);
  Pool& pool = pools_[key];
  if (!call->retried && !pool.free.empty()) {
    const ConnectionPtr connection = std::move(pool.free.back());
    pool.free.pop_back();
    call->connection = connection;
    connection->start(call);
  } else if (pool.all.size() < limit_of(key)) {
    const auto connection = std::make_shared<ClientConnection>(
        *this, ClientConnection::Settings{options_, tls_, *reactor_, input_, output_}, call->url);
    pool.all.push_back(connection);
    call->connection = connection;
    connection->open(call);
  } else if (pool.waiting.size() < options_.max_waiting) {
    pool.waiting.push_back(call);
  } else {
    end(call, fail(Code::kTooManyRequests,
                   "too many requests wait for a connection to " + call->url.endpoint()));
  }
}

void HttpClientImpl::end(const CallPtr& call, Status status) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): keeps the call alive
  const CallPtr kept = call;
  calls_.erase(call->id);
  call->deadline.reset();
  call->connection.reset();
  call->delivery->end(std::move(status));
}

// Ends a call before its time, wherever it is.
void HttpClientImpl::drop(const CallPtr& call, Status status) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): keeps the call alive
  const CallPtr kept = call;
  if (const ConnectionPtr connection = call->connection) {
    call->retried = true;  // no second try
    connection->close(std::move(status));
    return;
  }
  const auto pool = pools_.find(pool_of(*call));
  if (pool != pools_.end()) std::erase(pool->second.waiting, call);
  end(kept, std::move(status));
}

void HttpClientImpl::on_free(const ConnectionPtr& connection, const CallPtr& done) {
  const PoolKey key = pool_of(*done);
  pools_[key].free.push_back(connection);
  end(done, {});
  serve_waiting(key);
}

void HttpClientImpl::on_gone(const ConnectionPtr& connection, const CallPtr& call, Status why,
                             bool stale) {
  // A call that has a connection of its own has it to the end: one without a call was shared.
  const PoolKey key = call ? pool_of(*call) : PoolKey{.endpoint = connection->endpoint()};
  Pool& pool = pools_[key];
  std::erase(pool.free, connection);
  std::erase(pool.all, connection);
  if (call) {
    call->connection.reset();
    const bool lost = stale && !why && why.error().code == Code::kUnavailable;
    const bool again = lost && !call->retried && is_idempotent(call->request.method);
    call->retried = true;
    if (again) {
      dispatch(call);
    } else {
      end(call, std::move(why));
    }
  }
  serve_waiting(key);
}

void HttpClientImpl::serve_waiting(const PoolKey& key) {
  const auto found = pools_.find(key);
  if (found == pools_.end()) return;
  Pool& pool = found->second;
  if (!pool.waiting.empty() && (!pool.free.empty() || pool.all.size() < limit_of(key))) {
    const CallPtr next = std::move(pool.waiting.front());
    pool.waiting.pop_front();
    dispatch(next);
  } else if (pool.all.empty() && pool.waiting.empty()) {
    pools_.erase(found);
  }
}

void HttpClientImpl::cancel(RequestId request) {
  deliveries_->cancel(request);
  reactor_->post([this, request] {
    const auto found = calls_.find(request);
    if (found != calls_.end()) drop(found->second, fail(Code::kUnavailable, "cancelled"));
  });
}

void HttpClientImpl::close_everything() {
  const auto stopped = [] { return fail(Code::kUnavailable, "the client has been stopped"); };
  while (!calls_.empty()) drop(calls_.begin()->second, stopped());
  while (!pools_.empty()) {
    const auto all = pools_.begin()->second.all;
    for (const ConnectionPtr& connection : all) connection->close({});
    if (all.empty()) pools_.erase(pools_.begin());
  }
}

void HttpClientImpl::stop() {
  std::promise<void> closed;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    reactor_->post([&] {
      close_everything();
      closed.set_value();
    });
  }
  closed.get_future().wait();
  reactor_->stop();
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::create(ClientOptions options) {
  MUSTER_TRY(TlsContext tls, make_client_tls({.ca_pem = options.ca_pem,
                                              .certificate_pem = options.certificate_pem,
                                              .private_key_pem = options.private_key_pem,
                                              .verify_server = options.verify_server}));
  MUSTER_TRY(auto reactor, Reactor::start(options.gather));
  return std::make_unique<HttpClientImpl>(std::move(options), std::move(tls), std::move(reactor));
}

RequestId HttpClient::fetch(ClientRequest request,
                            std::move_only_function<void(Result<Reply>)> done) {
  if (request.max_body == 0) request.max_body = kMaxFetch;
  auto reply = std::make_shared<Reply>();
  return send(std::move(request),
              {.on_head =
                   [reply](ResponseHead head) {
                     reply->status = head.status;
                     reply->headers = std::move(head.headers);
                   },
               .on_data = [reply](std::string_view data) { reply->body += data; },
               .on_end =
                   [reply, done = std::move(done)](Status status) mutable {
                     if (!status) return done(std::unexpected(std::move(status).error()));
                     done(std::move(*reply));
                   },
               .only_post_end = true});
}

}  // namespace muster::net
