// An HTTPS server: sockets, TLS and HTTP/1.1 on one side, http::Handler on the other.
//
// What is refused here never reaches the handler: malformed or ambiguous HTTP (400), a wrong Host
// (421), a foreign Origin or a cross-site browser request (403), too large a body (413) or header
// (431). Each limit of ServerLimits bounds what one hostile peer can hold. See docs/net.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/http.h"
#include "base/result.h"

namespace muster::net {

struct KeyPair;

struct ServerLimits {
  std::size_t header_bytes = 64 * 1024;      // request line and headers; more is 431
  std::size_t body_bytes = 3 * 1024 * 1024;  // more is 413
  // Bodies that did not come with their header, of all requests that are read or answered, and the
  // shares that one address and one identity may take of them (base/byte_pool.h). Past a bound a
  // new body displaces the oldest one that has been arriving for longer than body_patience; if
  // there is none it is answered with 429. Half and a quarter: no single client can take all.
  std::size_t total_body_bytes = 256 * 1024 * 1024;
  std::size_t address_body_bytes = 128 * 1024 * 1024;
  std::size_t identity_body_bytes = 64 * 1024 * 1024;
  Duration body_patience = std::chrono::seconds(2);
  // For a further one those that have been silent longest are closed; it is closed itself if all
  // others wait for an answer.
  std::size_t connections = 16 * 1024;

  Duration handshake = std::chrono::seconds(10);  // TCP accept to the end of the TLS handshake
  Duration header = std::chrono::seconds(10);     // first byte to the end of the headers
  Duration body = std::chrono::seconds(60);       // end of the headers to the end of the body
  Duration idle = std::chrono::minutes(2);        // between two requests
  Duration write = std::chrono::seconds(30);      // without the peer taking a single byte
  // A WebSocket on which nothing moves, a reader for whom its producer waits (Exchange::when_sent).
  Duration pause = std::chrono::hours(4);
  Duration grace = std::chrono::seconds(5);  // stop(): for running exchanges to end
};

// Judges a request by its header, before its body is read: whose it is, or the answer that refuses
// it. Called on the server's threads, only if the body has not come together with the header.
using HeaderCheck =
    std::function<std::expected<std::string, http::Response>(const http::Request& header)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any free one, see HttpServer::port()
  std::string certificate_pem;        // followed by its chain, if any
  std::string private_key_pem;
  // Client certificates are asked for, not required, if this is set. One that was not issued by
  // this authority ends the handshake.
  std::string client_ca_pem;
  // Names and addresses that a Host header may carry, without port; empty allows any.
  std::vector<std::string> allowed_hosts;
  HeaderCheck check_header;  // empty: every body is read, and only addresses have shares
  int threads = 2;
  ServerLimits limits;
  const Clock* clock = &real_clock();  // for the Date header
};

// Counts since the start, except the first two, which are of now.
struct ServerStats {
  std::uint64_t open_connections = 0;
  std::uint64_t running_exchanges = 0;
  std::uint64_t accepted_connections = 0;
  std::uint64_t refused_connections = 0;  // over the limit
  std::uint64_t shed_connections = 0;     // silent ones, closed for new ones
  std::uint64_t failed_handshakes = 0;
  std::uint64_t timed_out_connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused_requests = 0;  // answered here, without the handler
};

class HttpServer {
 public:
  // Listens and serves at once. The handler is called on the server's threads, each connection on
  // one of them, until stop() has returned.
  static Result<std::unique_ptr<HttpServer>> start(ServerOptions options, http::Handler handler);

  virtual ~HttpServer() = default;  // stops
  virtual std::uint16_t port() const = 0;
  virtual ServerStats stats() const = 0;

  // Connections that begin from now on get this certificate, and client certificates of this
  // authority are taken; open connections go on. After a failure all is as before. Any thread.
  virtual Status renew(const KeyPair& certificate, const std::string& client_ca_pem) = 0;

  // Stops listening, closes idle connections, lets running exchanges end for the time of grace,
  // then cuts them. Returns when none of the server's threads runs any more; not to be called on
  // one of them. Exchanges that somebody still holds stay valid and do nothing.
  virtual void stop() = 0;
};

}  // namespace muster::net
