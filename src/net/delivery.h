// Brings the events of one request to its callbacks, on the client's thread or through a post
// function. Called on the client's thread, except cancel().
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "net/http_client.h"

namespace muster::net {

class Delivery;

// The deliveries that are under way, so that they can be cancelled from any thread. A request is
// among them until its last event has been delivered, which may be long after the connection was
// done with it.
class Deliveries {
 public:
  void add(RequestId id, std::weak_ptr<Delivery> delivery);
  void remove(RequestId id);
  void cancel(RequestId id);

 private:
  std::mutex mutex_;
  std::map<RequestId, std::weak_ptr<Delivery>> under_way_;
};

class Delivery : public std::enable_shared_from_this<Delivery> {
 public:
  // Body bytes that may be posted and not yet taken in; the connection is not read past that.
  static constexpr std::size_t kMaxPending = 1024 * 1024;

  struct Options {
    std::function<void(Task)> post;  // empty: callbacks are called directly
    std::function<void()> resume;    // called on any thread when a backlog has been taken in
  };
  static std::shared_ptr<Delivery> start(const std::shared_ptr<Deliveries>& all, RequestId id,
                                         ResponseEvents events, Options options);
  ~Delivery();

  void head(ResponseHead head);
  void data(std::string_view bytes);
  void end(Status status);

  bool has_backlog() const { return pending_ > kMaxPending; }
  void cancel() { cancelled_ = true; }  // from any thread: nothing more is called
  bool is_cancelled() const { return cancelled_; }

 private:
  Delivery(std::shared_ptr<Deliveries> all, RequestId id, ResponseEvents events, Options options);
  // Whether head and data are told where they arrive.
  bool is_direct() const { return !options_.post || events_.only_post_end; }
  void take_in(std::string_view bytes);

  const std::shared_ptr<Deliveries> all_;
  const RequestId id_;
  ResponseEvents events_;
  const Options options_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<std::size_t> pending_ = 0;
};

}  // namespace muster::net
