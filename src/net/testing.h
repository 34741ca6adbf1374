// For tests of this folder: certificates for loopback, a client that sends any bytes at all, and
// handlers.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/certificates.h"
#include "net/http_server.h"
#include "net/socket.h"
#include "net/tls.h"

namespace muster::net {

inline const Validity kAlways{Time(std::chrono::seconds(1'500'000'000)),
                              Time(std::chrono::seconds(4'000'000'000))};

struct TestPki {
  KeyPair authority = make_authority({"test-ca", {}}, kAlways).value();
  KeyPair server =
      make_server_certificate(authority, {"server", {}}, {"localhost", "127.0.0.1"}, kAlways)
          .value();
  KeyPair alice = make_client_certificate(authority, {"alice", {"admins", "dev"}}, kAlways).value();
};

inline const TestPki& test_pki() {
  static const TestPki* const pki = new TestPki;  // keys take a moment to make
  return *pki;
}

inline ServerOptions test_options() {
  return {.certificate_pem = test_pki().server.certificate_pem,
          .private_key_pem = test_pki().server.private_key_pem,
          .client_ca_pem = test_pki().authority.certificate_pem,
          .limits = {.grace = std::chrono::milliseconds(200)}};
}

// Blocks, unlike everything else here.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const KeyPair& identity = {})
      : fd_(begin_connect({"127.0.0.1", port}).value()),
        context_(make_client_tls({.ca_pem = test_pki().authority.certificate_pem,
                                  .certificate_pem = identity.certificate_pem,
                                  .private_key_pem = identity.private_key_pem})
                     .value()),
        channel_(Channel::connecting(fd_.get(), context_, "127.0.0.1")) {
    wait(POLLOUT);
    IoState state = channel_.handshake();
    for (; wait_for(state); state = channel_.handshake()) {
    }
    connected_ = state == IoState::kDone;
  }

  bool connected() const { return connected_; }
  const std::string& failure() const { return channel_.failure(); }

  // False if the server has closed before all was sent.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const IoResult result = channel_.write(bytes);
      if (result.state == IoState::kDone)
        bytes.remove_prefix(result.bytes);
      else if (!wait_for(result.state))
        return false;
    }
    return true;
  }

  // Everything up to and including the mark; what came until the end if there is none.
  std::string read_until(std::string_view mark) {
    std::size_t at;
    while ((at = received_.find(mark)) == std::string::npos && receive()) {
    }
    const std::size_t end = at == std::string::npos ? received_.size() : at + mark.size();
    std::string text = received_.substr(0, end);
    received_.erase(0, end);
    return text;
  }
  std::string read_bytes(std::size_t count) {
    while (received_.size() < count && receive()) {
    }
    std::string text = received_.substr(0, count);
    received_.erase(0, count);
    return text;
  }
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }

  struct Answer {
    std::string head;
    std::string body;
    int status() const { return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0; }
  };
  // One answer with Content-Length.
  Answer read_answer() {
    Answer answer{read_until("\r\n\r\n"), {}};
    const std::string_view kLength = "Content-Length: ";
    const std::size_t at = answer.head.find(kLength);
    if (at == std::string::npos) return answer;
    answer.body = read_bytes(std::stoul(answer.head.substr(at + kLength.size())));
    return answer;
  }

  void reset() {  // as if the process had died
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_ = UniqueFd();
  }
  int fd() const { return fd_.get(); }

 private:
  void wait(short events) {
    pollfd one{.fd = fd_.get(), .events = events, .revents = 0};
    ASSERT_GT(poll(&one, 1, 10'000), 0) << "the server does not answer";
  }
  bool wait_for(IoState state) {
    if (state != IoState::kWantRead && state != IoState::kWantWrite) return false;
    wait(state == IoState::kWantRead ? POLLIN : POLLOUT);
    return !testing::Test::HasFatalFailure();
  }
  bool receive() {
    std::array<char, 16 * 1024> buffer;
    for (;;) {
      const IoResult result = channel_.read(buffer);
      if (result.state == IoState::kDone) {
        received_.append(buffer.data(), result.bytes);
        return true;
      }
      if (!wait_for(result.state)) return false;
    }
  }

  UniqueFd fd_;
  TlsContext context_;
  Channel channel_;
  bool connected_ = false;
  std::string received_;
};

// A server that says and does what the test writes down, byte by byte, without TLS.
class ScriptedServer {
 public:
  using Script = std::function<void(int connection, const std::function<std::string()>& read,
                                    const std::function<void(std::string_view)>& write)>;
  explicit ScriptedServer(int connections, Script script)
      : listener_(listen_on({"127.0.0.1", 0}).value()), thread_([this, connections, script] {
          for (int i = 0; i < connections; ++i) serve(i, script);
        }) {}
  ~ScriptedServer() { thread_.join(); }
  std::string url() const {
    return fmt::format("http://127.0.0.1:{}/", local_port(listener_.get()).value());
  }

 private:
  static void wait_readable(int fd) {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    poll(&one, 1, 10'000);
  }
  void serve(int number, const Script& script) {
    wait_readable(listener_.get());
    const Accepted accepted = accept_from(listener_.get()).value();
    if (!accepted.fd.valid()) return;
    Channel channel(accepted.fd.get());
    script(
        number,
        [&] {
          std::array<char, 4096> buffer;
          wait_readable(accepted.fd.get());
          const IoResult result = channel.read(buffer);
          return std::string(buffer.data(), result.bytes);
        },
        [&](std::string_view text) { channel.write(text); });
  }

  UniqueFd listener_;
  std::thread thread_;
};

inline http::Response text_response(std::string text) {
  http::Response response;
  response.headers = {{"Content-Type", "text/plain"}};
  response.body.push_back(http::Chunk::own(std::move(text)));
  return response;
}

// Answers with what was asked.
inline void echo(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request();
  exchange->respond(
      text_response(request.method + " " + request.target + " [" + request.body + "]"));
}

// Hands exchanges from the server's threads to the test.
class Mailbox {
 public:
  http::Handler handler() {
    return [this](std::shared_ptr<http::Exchange> exchange) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(exchange));
      came_.notify_all();
    };
  }
  std::shared_ptr<http::Exchange> take() {
    std::unique_lock lock(mutex_);
    const bool came =
        came_.wait_for(lock, std::chrono::seconds(60), [this] { return !waiting_.empty(); });
    MUSTER_ASSERT(came, "no request has come");
    auto first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::shared_ptr<http::Exchange>> waiting_;
};

inline std::unique_ptr<HttpServer> serve(http::Handler handler,
                                         ServerOptions options = test_options()) {
  return HttpServer::start(std::move(options), std::move(handler)).value();
}

inline std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
}

}  // namespace muster::net
