#include "net/client_connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/http_text.h"
#include "net/names.h"

namespace muster::net {
namespace {

bool says_length_of_nothing(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

std::string request_head(const ClientRequest& request, const Url& url) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, url.target,
                                 request.host.empty() ? url.authority() : request.host);
  if (request.own_connection) head += "Connection: close\r\n";
  for (const auto& [name, value] : request.headers) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  if (!request.body.empty() || says_length_of_nothing(request.method)) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", request.body.size());
  }
  head += "\r\n";
  return head;
}

}  // namespace

ClientConnection::ClientConnection(Owner& owner, const Settings& settings, const Url& url)
    : owner_(owner),
      settings_(settings),
      url_(url),
      endpoint_(url.endpoint()),
      timer_(settings.reactor) {}

void ClientConnection::open(std::shared_ptr<Call> call) {
  call_ = std::move(call);
  timer_.start(settings_.options.connect_timeout, [this] {
    close(fail(Code::kTimeout, "connecting to " + endpoint_ + " took too long"));
  });
  if (!address_bytes(url_.host).empty()) {
    addresses_ = {{url_.host, url_.port}};
    return try_next({});
  }
  settings_.reactor.resolve(
      url_.host, url_.port, [self = shared_from_this()](Result<std::vector<Endpoint>> found) {
        if (self->phase_ != Phase::kConnecting) return;  // closed meanwhile
        if (!found) return self->close(std::unexpected(std::move(found).error()));
        self->addresses_ = *std::move(found);
        std::ranges::reverse(self->addresses_);
        self->try_next(fail(Code::kUnavailable, self->url_.host + " has no address"));
      });
}

void ClientConnection::try_next(Status last) {
  while (!addresses_.empty()) {
    const Endpoint next = std::move(addresses_.back());
    addresses_.pop_back();
    Result<UniqueFd> fd = begin_connect(next);
    if (fd) {
      socket_ = std::make_unique<Descriptor>(settings_.reactor, *std::move(fd));
      return wait_for_output();
    }
    last = std::unexpected(std::move(fd).error());
  }
  close(std::move(last));
}

void ClientConnection::end_connect_attempt() {
  if (Status connected = end_connect(socket_->fd()); !connected) {
    socket_->close();
    connected.error().message = endpoint_ + ": " + connected.error().message;
    return try_next(std::move(connected));
  }
  tune_connection(socket_->fd());
  const std::string& name = settings_.options.tls_server_name;
  channel_ = std::make_unique<Channel>(
      url_.tls ? Channel::connecting(socket_->fd(), settings_.tls, name.empty() ? url_.host : name)
               : Channel(socket_->fd()));
  phase_ = Phase::kHandshake;
  shake_hands();
}

void ClientConnection::shake_hands() {
  switch (channel_->handshake()) {
    case IoState::kWantRead:
      return wait_for_input();
    case IoState::kWantWrite:
      return wait_for_output();
    case IoState::kDone:
      break;
    default:
      return close(fail(Code::kUnavailable, endpoint_ + ": " + channel_->failure()));
  }
  start(std::move(call_));
  reused_ = false;
}

void ClientConnection::start(std::shared_ptr<Call> call) {
  phase_ = Phase::kBusy;
  reused_ = true;
  answered_ = head_delivered_ = half_sent_ = false;
  body_bytes_ = 0;
  call_ = std::move(call);
  parser_ = std::make_unique<ResponseParser>(settings_.options.max_header_bytes,
                                             call_->request.method == "HEAD");
  if (call_->request.still_wanted && !call_->request.still_wanted()) {
    reused_ = false;  // nothing to be tried again
    return close(fail(Code::kUnavailable, "it is too late to send this"));
  }
  // The body stays in the call: a retry needs it again.
  output_.push(http::Chunk::own(request_head(call_->request, call_->url)));
  output_.push({call_->request.body, call_});
  expect_progress();
  write();
  wait_for_input();
}

void ClientConnection::expect_progress() {
  const Duration silence = call_->request.silence;
  if (silence <= Duration::zero()) return timer_.cancel();
  timer_.start(silence, [this] {
    close(fail(Code::kTimeout, endpoint_ + " has been silent for too long"));
  });
}

void ClientConnection::close(Status why) {
  if (phase_ == Phase::kClosed) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::kFree) channel_->say_goodbye();
  phase_ = Phase::kClosed;
  timer_.cancel();
  output_.clear();
  if (socket_) socket_->close();
  const auto call = std::move(call_);
  owner_.on_gone(self, call, std::move(why), reused_ && !answered_);
}

void ClientConnection::wait_for_input() {
  if (phase_ == Phase::kClosed || std::exchange(waiting_for_input_, true)) return;
  socket_->when_readable(shared_from_this());
}

void ClientConnection::wait_for_output() {
  if (phase_ == Phase::kClosed || std::exchange(waiting_for_output_, true)) return;
  socket_->when_writable(shared_from_this());
}

void ClientConnection::on_readable() {
  waiting_for_input_ = false;
  if (phase_ == Phase::kHandshake) return shake_hands();
  if (phase_ == Phase::kBusy || phase_ == Phase::kFree) read();
}

void ClientConnection::on_writable() {
  waiting_for_output_ = false;
  if (phase_ == Phase::kConnecting) return end_connect_attempt();
  if (phase_ == Phase::kHandshake) return shake_hands();
  if (phase_ == Phase::kBusy) write();
}

void ClientConnection::write() {
  while (!output_.empty() && !waiting_for_output_) {
    const IoResult result = channel_->write(output_.next(settings_.output_scratch));
    switch (result.state) {
      case IoState::kDone:
        output_.consume(result.bytes);
        break;
      case IoState::kWantWrite:
        return wait_for_output();
      case IoState::kWantRead:
        return;
      default:  // it may have refused the request early: the answer is still worth reading
        half_sent_ = true;
        return output_.clear();
    }
  }
}

void ClientConnection::read() {
  while (phase_ == Phase::kBusy || phase_ == Phase::kFree) {
    if (call_ && call_->delivery->has_backlog()) return;  // resume() goes on
    const IoResult result = channel_->read(settings_.input_scratch);
    switch (result.state) {
      case IoState::kDone:
        break;
      case IoState::kWantRead:
        return wait_for_input();
      case IoState::kWantWrite:
        return wait_for_output();
      case IoState::kEnded:
        return end_input();
      case IoState::kBroken:
        return close(fail(Code::kUnavailable, endpoint_ + ": " + channel_->failure()));
    }
    if (phase_ == Phase::kFree) return close({});  // nobody asked for anything
    take({settings_.input_scratch.data(), result.bytes});
    if (!channel_->has_pending()) return wait_for_input();  // mostly that was all there is
  }
}

void ClientConnection::resume() {
  if (phase_ == Phase::kBusy && !waiting_for_input_) read();
}

void ClientConnection::take(std::string_view bytes) {
  answered_ = true;
  expect_progress();
  const bool whole = held_.empty();
  if (!whole) held_.append(bytes);
  const std::string_view all = whole ? bytes : std::string_view(held_);
  Result<std::size_t> used =
      parser_->feed(all, [this](std::string_view data) { deliver_data(data); });
  if (!used) return close(std::unexpected(std::move(used).error()));
  if (parser_->header_done()) deliver_head();
  const std::size_t limit = call_->request.max_body;
  if (limit > 0 && body_bytes_ > limit) {
    return close(fail(Code::kTooLarge,
                      fmt::format("the answer of {} is longer than {} bytes", endpoint_, limit)));
  }
  held_ = std::string(all.substr(*used));
  if (parser_->done()) end_answer();
}

void ClientConnection::deliver_head() {
  if (std::exchange(head_delivered_, true)) return;
  call_->delivery->head({parser_->status(), std::move(parser_->headers())});
}

void ClientConnection::deliver_data(std::string_view bytes) {
  deliver_head();
  body_bytes_ += bytes.size();
  const std::size_t limit = call_->request.max_body;
  if (limit == 0 || body_bytes_ <= limit) call_->delivery->data(bytes);
}

// The server has closed in an orderly way: that may be how its answer ends.
void ClientConnection::end_input() {
  if (phase_ == Phase::kFree) return close({});
  close(parser_->feed_end());
}

void ClientConnection::end_answer() {
  const bool reusable = parser_->keep_alive() && output_.empty() && !half_sent_ && held_.empty() &&
                        !call_->request.own_connection;
  if (!reusable) return close({});
  phase_ = Phase::kFree;
  parser_.reset();
  timer_.start(settings_.options.keep_idle, [this] { close({}); });
  const auto done = std::move(call_);
  owner_.on_free(shared_from_this(), done);
}

}  // namespace muster::net
