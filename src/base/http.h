// HTTP as plain types: what net/ speaks on sockets and server/ answers without them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop.h"

namespace muster::json {
class Document;
}
namespace muster::store {
class Object;
}

namespace muster::http {

using Header = std::pair<std::string, std::string>;
using Headers = std::vector<Header>;

// First value of a header, by name without regard to case; empty if there is none.
std::string_view find_header(const Headers& headers, std::string_view name);

// Who is at the other end of the connection, as far as the transport knows.
struct Peer {
  std::string address;
  // From a verified client certificate: the subject's CN and its O values; empty without one.
  std::string common_name;
  std::vector<std::string> organizations;
  std::string certificate_sha256;  // hex; for authentication.kubernetes.io/credential-id
};

struct Request {
  std::string method;  // upper case
  std::string target;  // path and query, as sent
  Headers headers;
  std::string body;
  Peer peer;
  Duration not_after = Duration::max();  // of a client, by Loop::monotonic(): not sent later
  // Instead of a body: the tree of the JSON that would stand there. For servers in this process.
  std::shared_ptr<const json::Document> document = nullptr;
};

// A piece of an answer. Stored objects are shared, never copied: `keep` holds what `text` lies in.
struct Chunk {
  std::string_view text;
  std::shared_ptr<const void> keep;

  static Chunk own(std::string text) {
    auto kept = std::make_shared<const std::string>(std::move(text));
    return {*kept, kept};
  }
  static Chunk literal(std::string_view text) { return {text, nullptr}; }  // of static storage
};

struct Response {
  int status = 200;
  Headers headers;  // without Content-Length, Date and Connection
  std::vector<Chunk> body;
  // The stored object that the body shows as it is stored. Callers in this process take it instead
  // of its text.
  std::shared_ptr<const store::Object> object = nullptr;
};

// A connection that becomes a WebSocket: messages in both directions instead of an answer.
struct Upgrade {
  std::string protocol;  // the subprotocol: one of those that the client offers, or none
  std::size_t max_message_bytes = 1u << 20;  // of the peer; a longer one ends the connection
  // A message of the peer, text or binary, whole. On the exchange's own thread.
  std::move_only_function<void(std::string_view message)> message;
};

// One request being answered. Created by the transport, handed to the Handler, kept alive by
// whoever still wants to answer. All methods may be called from any thread; what they do happens
// in the order of the calls. After the client has gone every call is a no-op.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;

  virtual void respond(Response response) = 0;  // once

  // Or a stream: headers first, then chunks (Transfer-Encoding: chunked), then finish().
  virtual void start_stream(Response head) = 0;  // head.body is the first chunk, may be empty
  virtual void send(std::vector<Chunk> chunks) = 0;
  virtual void finish() = 0;

  // Or messages, if the request asks for them rightly (base/websocket.h): from here on each send()
  // is one binary message, finish() a normal end. A transport without WebSockets answers 501.
  virtual void upgrade(Upgrade upgrade);
  // Whether the peer's messages wait on its side: what it sends meanwhile fills the socket.
  virtual void hold_messages(bool /*hold*/) {}

  // Bytes handed over and not yet taken by the socket. A producer that sees this grow past its
  // bound waits (when_sent) or cuts the stream with abort().
  virtual std::size_t unsent_bytes() const = 0;
  // Runs the task on the exchange's own thread as soon as the socket has taken all that was handed
  // over before. One at a time: a new one replaces the old.
  virtual void when_sent(Task task) { post(std::move(task)); }
  virtual void abort() = 0;

  // Runs the task on the exchange's own thread (the I/O thread of its connection), in order.
  virtual void post(Task task) = 0;
  // Likewise after a delay; at most one timer per exchange, a new one replaces the old.
  virtual void set_timer(Duration delay, Task task) = 0;
  // Called once, on the exchange's own thread, when the client has gone or the answer is complete.
  virtual void on_close(Task task) = 0;
};

// Called on an I/O thread, for many exchanges at once; must not block.
using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace muster::http
