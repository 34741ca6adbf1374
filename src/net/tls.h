// Bytes over a nonblocking socket, through TLS or plain. tls.cc and pem.cc are where OpenSSL lives.
//
// OpenSSL reads and writes the socket itself: an idle connection then holds no buffers of ours and,
// with SSL_MODE_RELEASE_BUFFERS, none of OpenSSL's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace muster::net {

// Certificates, keys and settings; shared by all connections of a server or client.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

struct ServerTls {
  std::string certificate_pem;
  std::string private_key_pem;
  std::string client_ca_pem;  // empty: clients are not asked for a certificate
};
Result<TlsContext> make_server_tls(const ServerTls& settings);

struct ClientTls {
  std::string ca_pem;  // empty: the system's roots
  std::string certificate_pem;
  std::string private_key_pem;
  bool verify_server = true;
};
Result<TlsContext> make_client_tls(const ClientTls& settings);

enum class IoState {
  kDone,
  kWantRead,   // go on when the socket can be read
  kWantWrite,  // go on when the socket can be written
  kEnded,      // the peer has said that nothing more comes
  kBroken,     // the connection is of no use any more; see Channel::failure()
};

struct IoResult {
  IoState state = IoState::kDone;
  std::size_t bytes = 0;  // with kDone, more than zero
};

// Not thread-safe. Does not own the socket, which has to outlive it.
class Channel {
 public:
  explicit Channel(int fd);                                     // plain
  static Channel accepting(int fd, const TlsContext& context);  // server
  static Channel connecting(int fd, const TlsContext& context, const std::string& server_name);
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();

  IoState handshake();
  IoResult read(std::span<char> into);
  // After kWantWrite the next write has to begin with the same bytes; it may be longer and lie
  // elsewhere.
  IoResult write(std::string_view bytes);
  // Whether read() may have something although the socket does not become readable.
  bool has_pending() const;
  void say_goodbye();  // tells the peer that nothing more comes; best effort

  http::Peer peer() const;  // from its certificate; without the address
  const std::string& failure() const { return failure_; }

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  IoState outcome(int result);

  int fd_;
  std::unique_ptr<ssl_st, Free> ssl_;  // null: plain
  std::string failure_;
};

}  // namespace muster::net
