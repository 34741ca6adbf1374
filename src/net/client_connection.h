// One connection of the client: opens, sends a request, reads its answer, and does so again with
// the next one. Lives on the client's thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/delivery.h"
#include "net/http_client.h"
#include "net/http_parser.h"
#include "net/output_queue.h"
#include "net/reactor.h"
#include "net/tls.h"
#include "net/url.h"

namespace muster::net {

class ClientConnection;

// A request on its way.
struct Call {
  RequestId id = RequestId::kNone;
  Url url;
  ClientRequest request;
  std::shared_ptr<Delivery> delivery;
  std::unique_ptr<Timer> deadline;
  std::shared_ptr<ClientConnection> connection;  // null while it waits for one
  bool retried = false;
};

class ClientConnection final : public Descriptor::Owner,
                               public std::enable_shared_from_this<ClientConnection> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The answer is complete; the connection is free for the next call.
    virtual void on_free(const std::shared_ptr<ClientConnection>& connection,
                         const std::shared_ptr<Call>& done) = 0;
    // The connection is closed. `call` is what it was busy with, if anything, and `why` what to
    // tell it; success if the answer was complete. `stale`: the connection was an old one and
    // brought nothing of the answer, so the server may have closed it before it saw the request.
    virtual void on_gone(const std::shared_ptr<ClientConnection>& connection,
                         const std::shared_ptr<Call>& call, Status why, bool stale) = 0;
  };

  struct Settings {
    const ClientOptions& options;
    TlsContext tls;
    Reactor& reactor;
    std::span<char> input_scratch;  // shared by all connections of the client
    std::span<char> output_scratch;
  };

  ClientConnection(Owner& owner, const Settings& settings, const Url& url);

  void open(std::shared_ptr<Call> call);   // connects first
  void start(std::shared_ptr<Call> call);  // when free
  void resume();                           // the backlog of the call has been taken in
  void close(Status why);

  const std::string& endpoint() const { return endpoint_; }

 private:
  enum class Phase { kConnecting, kHandshake, kBusy, kFree, kClosed };

  void on_readable() override;
  void on_writable() override;

  void try_next(Status last);
  void end_connect_attempt();
  void shake_hands();
  void write();
  void read();
  void take(std::string_view bytes);
  void deliver_head();
  void deliver_data(std::string_view bytes);
  void end_input();
  void end_answer();
  void wait_for_input();
  void wait_for_output();
  void expect_progress();

  Owner& owner_;
  const Settings settings_;
  const Url url_;
  const std::string endpoint_;
  std::vector<Endpoint> addresses_;  // still to be tried
  std::unique_ptr<Descriptor> socket_;
  std::unique_ptr<Channel> channel_;
  Timer timer_;  // connecting, silence or being free for too long

  Phase phase_ = Phase::kConnecting;
  bool waiting_for_input_ = false;
  bool waiting_for_output_ = false;
  bool reused_ = false;     // the call is not the first on this connection
  bool answered_ = false;   // a byte of the answer has come
  bool half_sent_ = false;  // the server stopped reading before the end of the request

  std::shared_ptr<Call> call_;
  OutputQueue output_;
  std::unique_ptr<ResponseParser> parser_;
  std::string held_;  // the part of an answer that cannot be parsed yet
  bool head_delivered_ = false;
  std::size_t body_bytes_ = 0;
};

}  // namespace muster::net
