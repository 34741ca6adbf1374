// How requests reach an API server: in this process, or over HTTPS. One Client works over either,
// so that the controllers behave the same on every engine.
//
// A transport belongs to one Loop: it is used on that loop's thread and calls back there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/loop.h"
#include "base/result.h"

namespace muster::store {
class Object;
class Store;
}  // namespace muster::store

namespace muster::client {

class Feed;

struct Answer {
  int status = 0;
  http::Headers headers;
  std::string body;
  // Instead of a body: a stored object of a server in this process.
  std::shared_ptr<const store::Object> object = nullptr;

  std::string text() const;  // the body, also where it is an object
};

class Transport {
 public:
  virtual ~Transport() = default;

  // One request, one answer of any status. Fails with kUnavailable if the server cannot be reached,
  // or not in time (Request::not_after): then nothing was sent.
  using Done = std::move_only_function<void(Result<Answer>)>;
  virtual void send(http::Request request, Done done) = 0;

  // A request whose answer goes on (watch, log -f). `data` is called for every piece as it arrives,
  // `end` once. Destroying the Stream ends it; nothing is called after that.
  class Stream {
   public:
    virtual ~Stream() = default;
  };
  struct StreamEvents {
    std::function<void(int status)> head;
    std::function<void(std::string_view data)> data;
    std::function<void(Status why)> end;
  };
  virtual std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) = 0;

  virtual Loop& loop() = 0;

  // The changes of a store in this process; null if there is none, so that one has to list and
  // watch.
  virtual Feed* feed() { return nullptr; }
};

// Straight into a server in this process. The handler authenticates such requests by itself. With
// the server's store, which must outlive the transport, informers read from its feed.
std::unique_ptr<Transport> make_in_process_transport(Loop& loop, http::Handler handler,
                                                     store::Store* store = nullptr);

}  // namespace muster::client
