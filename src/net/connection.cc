#include "net/connection.h"

#include <sys/socket.h>

#include "base/ascii.h"
#include "base/log.h"
#include "base/websocket.h"
#include "net/http_text.h"

namespace muster::net {
namespace {

// Pipelined input that is taken in while an answer is pending; more stays in the socket.
constexpr std::size_t kMaxHeld = 64 * 1024;
// A buffer larger than this is given back when it is empty.
constexpr std::size_t kKeptCapacity = 1024;
// Answers to pings that wait for a peer that reads nothing; further pings are not answered.
constexpr std::size_t kMaxPongBytes = 4 * 1024;
// How long the peer's last words are read, so that closing does not destroy our answer.
constexpr Duration kLinger = std::chrono::seconds(2);

Refusal too_many_bodies() {
  return {429, "TooManyRequests", "too many requests, please try again later"};
}

}  // namespace

Connection::Connection(Worker& worker, Accepted accepted)
    : worker_(worker),
      socket_(*worker.reactor(), std::move(accepted.fd)),
      channel_(Channel::accepting(socket_.fd(), worker.shared().current_tls())) {
  peer_.address = std::move(accepted.address);
}

void Connection::start() {
  tune_connection(socket_.fd());
  last_turn_ = worker_.next_turn();
  enter(Phase::kHandshake, worker_.shared().options.limits.handshake);
  shake_hands();
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  deadline_ = 0;
}

void Connection::enter(Phase phase, Duration limit) {
  phase_ = phase;
  deadline_ = worker_.tick_after(limit);
}

void Connection::expire_if_due(Tick now) {
  if (deadline_ == 0 || now < deadline_) return;
  if (phase_ != Phase::kIdle && phase_ != Phase::kLingering) {
    ++worker_.shared().timed_out_connections;
  }
  close();
}

bool Connection::can_be_shed() const {
  return phase_ != Phase::kAnswering && phase_ != Phase::kClosed;
}

void Connection::drain() {
  last_ = true;
  if (phase_ == Phase::kIdle || phase_ == Phase::kHandshake) close();
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::kIdle) channel_.say_goodbye();
  enter(Phase::kClosed);
  output_.clear();
  socket_.close();
  end_exchange();
  worker_.forget(*this);
}

void Connection::on_readable() {
  waiting_for_input_ = false;
  last_turn_ = worker_.next_turn();
  switch (phase_) {
    case Phase::kHandshake:
      return shake_hands();
    case Phase::kLingering:
      return discard();
    case Phase::kClosed:
      return;
    default:
      break;
  }
  read();
  if (!output_.empty() && !waiting_for_output_) flush();  // TLS may have wanted input to go on
}

void Connection::on_writable() {
  waiting_for_output_ = false;
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kHandshake) return shake_hands();
  flush();
  if (!waiting_for_input_) read();
}

void Connection::wait_for_input() {
  if (phase_ == Phase::kClosed || std::exchange(waiting_for_input_, true)) return;
  socket_.when_readable(shared_from_this());
}

void Connection::wait_for_output() {
  if (phase_ == Phase::kClosed || std::exchange(waiting_for_output_, true)) return;
  socket_.when_writable(shared_from_this());
}

void Connection::shake_hands() {
  switch (channel_.handshake()) {
    case IoState::kWantRead:
      return wait_for_input();
    case IoState::kWantWrite:
      return wait_for_output();
    case IoState::kDone:
      break;
    default:
      ++worker_.shared().failed_handshakes;
      log::debug("TLS handshake failed", {{"peer", peer_.address}, {"reason", channel_.failure()}});
      return close();
  }
  http::Peer known = channel_.peer();
  known.address = std::move(peer_.address);
  peer_ = std::move(known);
  // The first request is due at once; only kept-alive connections may idle.
  enter(Phase::kIdle, worker_.shared().options.limits.header);
  read();
}

bool Connection::is_reading_request() const {
  return phase_ == Phase::kIdle || phase_ == Phase::kHeader || phase_ == Phase::kBody;
}

// Also while an answer is pending: that is how we learn that the client has gone.
void Connection::read() {
  while (is_reading_request() || (phase_ == Phase::kAnswering && held_.size() < kMaxHeld)) {
    const IoResult result = channel_.read(worker_.input_scratch());
    switch (result.state) {
      case IoState::kDone:
        break;
      case IoState::kWantRead:
        return wait_for_input();
      case IoState::kWantWrite:
        return wait_for_output();
      default:
        return close();
    }
    take(std::string_view(worker_.input_scratch().data(), result.bytes));
    if (!channel_.has_pending() && phase_ != Phase::kLingering) return wait_for_input();
  }
}

void Connection::take(std::string_view bytes) {
  const bool was_http = messages_ == nullptr;
  const auto use = was_http ? &Connection::parse : &Connection::read_messages;
  if (held_.empty() && (is_reading_request() || !was_http)) {
    held_.append(bytes.substr((this->*use)(bytes)));
  } else {
    held_.append(bytes);
    held_.erase(0, (this->*use)(held_));
  }
  if (was_http && messages_) return take({});  // its first messages may be here already
  if (held_.empty() && held_.capacity() > kKeptCapacity) held_ = {};
}

// Reads requests and begins their exchanges for as long as these end at once. Returns how much
// of the bytes was used.
std::size_t Connection::parse(std::string_view bytes) {
  std::size_t used = 0;
  parsing_ = true;
  while (used < bytes.size() && is_reading_request()) {
    const ServerLimits& limits = worker_.shared().options.limits;
    if (!parser_) {
      parser_ = std::make_unique<RequestParser>(
          ParseLimits{.header_bytes = limits.header_bytes, .body_bytes = limits.body_bytes});
      to_head_ = to_http_1_0_ = false;
      enter(Phase::kHeader, limits.header);
    }
    const auto step = parser_->feed(bytes.substr(used));
    if (!step) {
      refuse(step.error());
      break;
    }
    used += *step;
    if (phase_ == Phase::kHeader && parser_->header_done() && !accept_header()) break;
    if (!count_body() || !parser_->done()) break;
    begin_exchange();
  }
  parsing_ = false;
  return used;
}

// Decides on the header alone, before anything is spent on the body.
bool Connection::accept_header() {
  ServerShared& shared = worker_.shared();
  const http::Request& request = parser_->request();
  to_head_ = request.method == "HEAD";
  to_http_1_0_ = parser_->is_http_1_0();
  last_ = last_ || to_http_1_0_ || !parser_->keep_alive();
  if (const auto refusal = shared.check(request, to_http_1_0_)) {
    refuse(*refusal);
    return false;
  }
  enter(Phase::kBody, shared.options.limits.body);
  return parser_->done() || accept_body();
}

// The body is still to come. It is read only if its sender may send it, against the sender's share.
bool Connection::accept_body() {
  ServerShared& shared = worker_.shared();
  BytePool::Client client{.address = peer_.address, .identity = {}};
  if (shared.options.check_header) {
    parser_->request().peer = peer_;
    auto verdict = shared.options.check_header(parser_->request());
    if (!verdict) {
      refuse(std::move(verdict).error());
      return false;
    }
    client.identity = *std::move(verdict);
  }
  body_ = shared.bodies.enter(
      std::move(client), shared.options.clock->now(),
      [reactor = worker_.reactor(), weak = weak_from_this()](BytePool::Id body) {
        reactor->post([weak, body] {
          if (const auto self = weak.lock()) self->displace(body);
        });
      });
  if (parser_->expects_continue()) {
    output_.push(http::Chunk::literal(kContinue));
    flush();
  }
  return phase_ == Phase::kBody;
}

// Another client's body needs the room, see BytePool.
void Connection::displace(BytePool::Id body) {
  if (phase_ == Phase::kBody && body_ == body) refuse(too_many_bodies());
}

bool Connection::count_body() {
  if (body_ == 0) return true;
  ServerShared& shared = worker_.shared();
  const std::size_t size = parser_->request().body.size();
  if (shared.bodies.resize(body_, size, shared.options.clock->now())) return true;
  refuse(too_many_bodies());
  return false;
}

void Connection::begin_exchange() {
  ServerShared& shared = worker_.shared();
  http::Request request = std::move(parser_->request());
  if (to_http_1_0_) {  // which has no upgrades, whatever is asked for
    std::erase_if(request.headers, [](const http::Header& header) {
      return equal_ignoring_case(header.first, "Upgrade");
    });
  }
  request.peer = peer_;
  parser_.reset();
  if (body_ != 0) shared.bodies.keep(body_);
  enter(Phase::kAnswering);
  ++shared.requests;
  ++shared.running_exchanges;
  const auto exchange =
      std::make_shared<ServerExchange>(worker_.reactor(), shared_from_this(), std::move(request));
  exchange_ = exchange;
  exchange->run(shared.handler);
}

void Connection::forget_body() {
  if (body_ != 0) worker_.shared().bodies.leave(std::exchange(body_, 0));
}

void Connection::end_exchange() {
  forget_body();
  messages_.reset();
  if (!exchange_) return;
  --worker_.shared().running_exchanges;
  std::exchange(exchange_, nullptr)->close();
}

// Every byte of the answer has been taken by the socket.
void Connection::end_answer() {
  answer_ = {};
  end_exchange();
  if (phase_ != Phase::kAnswering) return;  // closed by what on_close did
  if (last_) return linger();
  enter(Phase::kIdle, worker_.shared().options.limits.idle);
  if (parsing_) return;  // which goes on with what it has
  if (!held_.empty()) take({});
  if (!waiting_for_input_) read();
}

void Connection::refuse(const Refusal& refusal) {
  http::Response response = response_of(refusal);
  if (refusal.status == 429) response.headers.emplace_back("Retry-After", "1");
  refuse(std::move(response));
}

void Connection::refuse(http::Response response) {
  ++worker_.shared().refused_requests;
  last_ = true;
  parser_.reset();
  forget_body();
  enter(Phase::kAnswering);
  answer_.respond(std::move(response), terms(), output_);
  flush();
}

Answer::Terms Connection::terms() const {
  return {.to_head = to_head_, .to_http_1_0 = to_http_1_0_, .close = last_, .date = worker_.date()};
}

void Connection::respond(http::Response response) {
  answer_.respond(std::move(response), terms(), output_);
  exchange_->set_queued(output_.bytes());
}

void Connection::start_stream(http::Response head) {
  answer_.start_stream(std::move(head), terms(), output_);
  exchange_->set_queued(output_.bytes());
}

void Connection::send(std::vector<http::Chunk> chunks) {
  answer_.send(std::move(chunks), output_);
  exchange_->set_queued(output_.bytes());
}

void Connection::upgrade(http::Upgrade upgrade) {
  const http::Request& request = exchange_->request();
  if (const Status status = http::check_websocket_request(request); !status)
    return respond(response_of({400, "BadRequest", status.error().message}));
  last_ = true;
  answer_.start_messages({.key = http::find_header(request.headers, "Sec-WebSocket-Key"),
                          .protocol = upgrade.protocol},
                         terms(), output_);
  messages_ = std::make_unique<Messages>(std::move(upgrade));
  if (!parsing_) take({});  // else take() is on the stack, and does it
}

void Connection::hold_messages(bool hold) {
  if (!messages_) return;
  messages_->held = hold;
  if (hold) return;
  take({});
  if (!waiting_for_input_) read();
}

void Connection::await_sent() {
  if (waiting_for_output_) enter(Phase::kAnswering, patience());
}

// How long the peer may take nothing. A producer that waits for it (when_sent) holds little, and
// the user of a WebSocket may let it stand for a while.
Duration Connection::patience() const {
  const ServerLimits& limits = worker_.shared().options.limits;
  return messages_ || (exchange_ && exchange_->is_awaited()) ? limits.pause : limits.write;
}

// Returns how much of the bytes was used. What comes after the end is of no interest.
std::size_t Connection::read_messages(std::string_view bytes) {
  std::string_view rest = bytes;
  while (phase_ == Phase::kAnswering && !answer_.is_complete() && !messages_->held) {
    const auto event = messages_->reader.next(rest);
    if (event && !*event) break;
    if (event) {
      take_event(**event);
    } else {
      answer_.close_messages(event.error(), output_);
      flush();
    }
  }
  return answer_.is_complete() || phase_ != Phase::kAnswering ? bytes.size()
                                                              : bytes.size() - rest.size();
}

void Connection::take_event(const FrameReader::Event& event) {
  enter(Phase::kAnswering, patience());
  switch (event.opcode) {
    case Opcode::kPing: {
      if (messages_->pong_bytes >= kMaxPongBytes) return;
      std::string pong = frame_head(Opcode::kPong, event.payload.size()).append(event.payload);
      messages_->pong_bytes += pong.size();
      output_.push(http::Chunk::own(std::move(pong)));
      return flush();
    }
    case Opcode::kPong:
      return;
    case Opcode::kClose:
      answer_.close_messages(CloseCode::kNormal, output_);
      return flush();
    default:
      messages_->peer.message(event.payload);
  }
}

void Connection::finish() { answer_.finish(output_); }
void Connection::abort() { close(); }

void Connection::abandon() {
  if (answer_.is_complete()) return;
  if (answer_.has_begun()) return close();
  respond(response_of({500, "InternalError", "the request was dropped without an answer"}));
}

// Writes what the socket takes. Each time that it is full the peer has a new deadline to take more;
// what is queued meanwhile does not move that.
void Connection::flush() {
  const bool was_full = waiting_for_output_;
  while (!output_.empty() && !waiting_for_output_) {
    const IoResult result = channel_.write(output_.next(worker_.output_scratch()));
    if (result.state == IoState::kEnded || result.state == IoState::kBroken) return close();
    if (result.state == IoState::kWantWrite) wait_for_output();
    if (result.state != IoState::kDone) break;
    output_.consume(result.bytes);
    if (exchange_) exchange_->set_queued(output_.bytes());
  }
  if (phase_ != Phase::kAnswering || was_full) return;
  if (messages_ || !output_.empty()) {
    enter(Phase::kAnswering, patience());
  } else {
    enter(Phase::kAnswering);
  }
  if (!output_.empty()) return;
  if (messages_) messages_->pong_bytes = 0;
  if (exchange_) exchange_->tell_sent();
  if (answer_.is_complete()) end_answer();
}

// The answer is on its way and nothing follows it. Closing now could destroy it: unread input
// makes the kernel reset the connection. So we say that we are done and wait for the peer.
void Connection::linger() {
  channel_.say_goodbye();
  shutdown(socket_.fd(), SHUT_WR);
  enter(Phase::kLingering, kLinger);
  discard();
}

void Connection::discard() {
  const std::span<char> scratch = worker_.input_scratch();
  for (;;) {
    const ssize_t got = recv(socket_.fd(), scratch.data(), scratch.size(), 0);
    if (got > 0) continue;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return wait_for_input();
    return close();
  }
}

}  // namespace muster::net
