// An asynchronous HTTP/1.1 client with its own I/O thread and a pool of kept-alive connections.
//
//   client->fetch({.url = "https://127.0.0.1:6443/api"}, [](Result<net::Reply> reply) { ... });
//   auto watch = client->send({.url = ..., .timeout = {}}, {.on_data = ..., .on_end = ...});
//   client->cancel(watch);
//
// Callbacks run on the client's thread and must not block there, or, with ClientOptions::post,
// where that function takes them (a base Loop). Everything of peers is bounded and timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/result.h"

namespace muster::net {

struct ClientOptions {
  std::string ca_pem;           // what servers are verified against; empty: the system's roots
  std::string certificate_pem;  // shown to servers that ask; empty: none
  std::string private_key_pem;
  std::string tls_server_name;  // to verify instead of the URL's host; empty: the URL's host
  bool verify_server = true;

  // How callbacks are delivered; empty: directly, on the client's thread. Must keep the order.
  std::function<void(Task)> post;

  // Answers that come within this time of each other are taken in together; zero: each at once.
  Duration gather = {};

  Duration connect_timeout = std::chrono::seconds(10);  // resolve, connect and TLS handshake
  Duration keep_idle = std::chrono::seconds(60);        // how long an unused connection is kept
  // Per endpoint. Further requests wait, those that share a connection in one line, and those that
  // want one of their own in another: neither holds up the other.
  std::size_t max_connections = 256;
  std::size_t max_own_connections = 256;
  std::size_t max_waiting = 10'000;          // in each line; past it they fail: kTooManyRequests
  std::size_t max_header_bytes = 64 * 1024;  // of a response
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;        // https://host:port/path?query, or http://
  http::Headers headers;  // without Host, Content-Length and Connection; Authorization goes here
  std::string body;
  std::string host;             // says the Host header; empty: what the URL says
  bool own_connection = false;  // opened for this request and closed after it
  // Asked just before it is sent, on the client's thread. If it is not, nothing is sent and the
  // request ends with kUnavailable. Empty: it is.
  std::function<bool()> still_wanted;

  Duration timeout = std::chrono::seconds(30);  // until the last byte of the answer; zero: none
  Duration silence = {};                        // longest wait for the next byte of it; zero: any
  std::size_t max_body = 0;                     // longer answers fail with kTooLarge; zero: any
};

struct ResponseHead {
  int status = 0;
  http::Headers headers;
};

// What happens to one request: on_head, any number of on_data, then on_end with success; or
// on_end with an error at any point. After on_end nothing follows. Each may be empty.
//
// Errors: kUnavailable (could not connect, connection lost), kTimeout, kBadRequest (the URL or the
// headers), kTooManyRequests (too many waiting), kInternal (the server does not speak HTTP).
struct ResponseEvents {
  std::move_only_function<void(ResponseHead)> on_head;
  std::move_only_function<void(std::string_view)> on_data;
  std::move_only_function<void(Status)> on_end;
  // Head and data are told on the client's own thread, and only the end is posted: for those who
  // gather the answer and look at it as a whole.
  bool only_post_end = false;
};

struct Reply {
  int status = 0;
  http::Headers headers;
  std::string body;
};

enum class RequestId : std::uint64_t { kNone = 0 };

class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> create(ClientOptions options);
  virtual ~HttpClient() = default;  // stops

  // From any thread. A request that a kept-alive connection lost before the first byte of an
  // answer is sent once more on a new one, if its method is idempotent.
  virtual RequestId send(ClientRequest request, ResponseEvents events) = 0;

  // The same for an answer that is wanted whole; without a max_body kMaxFetch is taken.
  static constexpr std::size_t kMaxFetch = 64 * 1024 * 1024;
  RequestId fetch(ClientRequest request, std::move_only_function<void(Result<Reply>)> done);

  // From any thread. No callback is called after it if they run on the calling thread; else one
  // that is running or posted may still finish. Unknown and past requests are ignored.
  virtual void cancel(RequestId request) = 0;

  // Ends every request with kUnavailable and returns when the client's thread has ended. Not to be
  // called on that thread.
  virtual void stop() = 0;
};

}  // namespace muster::net
