#include "agent/probes/conversation.h"

#include <array>

#include "base/ascii.h"
#include "net/names.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::agent {
namespace {

constexpr std::size_t kReadBytes = 4096;

// Lives on the reactor's thread once open() was posted to it.
class Conversation final : public net::Descriptor::Owner,
                           public std::enable_shared_from_this<Conversation> {
 public:
  using Report = std::move_only_function<void(ProbeOutcome)>;
  Conversation(net::Reactor& reactor, Peer peer, std::unique_ptr<Protocol> protocol, Report report)
      : reactor_(reactor),
        peer_(std::move(peer)),
        protocol_(std::move(protocol)),
        report_(std::move(report)) {}

  void open(Duration timeout) {
    timer_ = std::make_unique<net::Timer>(reactor_);
    timer_->start(timeout, [this] { end(protocol_->ended(Protocol::End::kTimeout, "")); });
    if (!net::address_bytes(peer_.host).empty()) return connect({{peer_.host, peer_.port}});
    reactor_.resolve(peer_.host, peer_.port,
                     [self = shared_from_this()](Result<std::vector<net::Endpoint>> found) {
                       if (self->over_) return;
                       if (!found) return self->unreachable(found.error().message);
                       self->connect(*found);
                     });
  }

  void abandon() {
    over_ = true;
    timer_.reset();
    if (socket_) socket_->close();
  }

 private:
  void connect(const std::vector<net::Endpoint>& addresses) {
    std::string why = "no address";
    for (const net::Endpoint& address : addresses) {
      Result<UniqueFd> fd = net::begin_connect(address);
      if (fd) {
        socket_ = std::make_unique<net::Descriptor>(reactor_, *std::move(fd));
        return socket_->when_writable(shared_from_this());
      }
      why = connect_failure(fd.error().message);
    }
    unreachable(why);
  }

  void on_writable() override {
    if (over_) return;
    if (!channel_) {
      if (const Status connected = net::end_connect(socket_->fd()); !connected) {
        return unreachable(connect_failure(connected.error().message));
      }
      channel_.emplace(socket_->fd());
      if (auto outcome = protocol_->connected(output_)) return end(*std::move(outcome));
      socket_->when_readable(shared_from_this());
    }
    waits_for_room_ = false;
    write();
  }

  void on_readable() override {
    if (over_) return;
    std::array<char, kReadBytes> buffer;
    for (;;) {
      const net::IoResult got = channel_->read(buffer);
      if (got.state == net::IoState::kWantRead) break;
      if (got.state != net::IoState::kDone) return lost();
      if (auto outcome = protocol_->heard({buffer.data(), got.bytes}, output_)) {
        return end(*std::move(outcome));
      }
    }
    socket_->when_readable(shared_from_this());
    write();
  }

  void write() {
    if (over_ || waits_for_room_) return;
    while (!output_.empty()) {
      const net::IoResult put = channel_->write(output_);
      if (put.state == net::IoState::kWantWrite) {
        waits_for_room_ = true;
        return socket_->when_writable(shared_from_this());
      }
      if (put.state != net::IoState::kDone) return;  // reading finds out why
      output_.erase(0, put.bytes);
    }
  }

  void unreachable(std::string_view why) {
    end(protocol_->ended(Protocol::End::kUnreachable, why));
  }
  void lost() { end(protocol_->ended(Protocol::End::kLost, channel_->failure())); }

  void end(ProbeOutcome outcome) {
    const auto self = shared_from_this();
    abandon();
    report_(std::move(outcome));
  }

  net::Reactor& reactor_;
  const Peer peer_;
  const std::unique_ptr<Protocol> protocol_;
  Report report_;
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::Descriptor> socket_;
  std::optional<net::Channel> channel_;
  std::string output_;
  bool waits_for_room_ = false;
  bool over_ = false;
};

class ConversationAttempt final : public Attempt {
 public:
  ConversationAttempt(Loop& loop, std::shared_ptr<net::Reactor> reactor, const Peer& peer,
                      Duration timeout, std::unique_ptr<Protocol> protocol, ProbeDone done)
      : reactor_(std::move(reactor)), done_(std::make_shared<ProbeDone>(std::move(done))) {
    const std::weak_ptr<ProbeDone> listener = done_;
    conversation_ = std::make_shared<Conversation>(
        *reactor_, peer, std::move(protocol), [&loop, listener](ProbeOutcome outcome) {
          loop.post([listener, outcome = std::move(outcome)]() mutable {
            if (const auto alive = listener.lock()) (*alive)(std::move(outcome));
          });
        });
    reactor_->post([talk = conversation_, timeout] { talk->open(timeout); });
  }
  ~ConversationAttempt() override {
    reactor_->post([talk = std::move(conversation_)] { talk->abandon(); });
  }

 private:
  const std::shared_ptr<net::Reactor> reactor_;
  const std::shared_ptr<ProbeDone> done_;  // known to the loop's thread only
  std::shared_ptr<Conversation> conversation_;
};

}  // namespace

std::string connect_failure(std::string_view message) {
  const std::size_t colon = message.rfind(": ");
  std::string cause(colon == std::string_view::npos ? message : message.substr(colon + 2));
  if (!cause.empty()) cause[0] = lower_case(cause[0]);
  return "connect: " + cause;
}

std::unique_ptr<Attempt> start_conversation(Loop& loop,
                                            const std::shared_ptr<net::Reactor>& reactor,
                                            const Peer& peer, Duration timeout,
                                            std::unique_ptr<Protocol> protocol, ProbeDone done) {
  return std::make_unique<ConversationAttempt>(loop, reactor, peer, timeout, std::move(protocol),
                                               std::move(done));
}

}  // namespace muster::agent
