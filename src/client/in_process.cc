// A transport without sockets: every request becomes an http::Exchange that hands its answer back
// to the loop.
#include <atomic>
#include <utility>

#include "client/feed.h"
#include "client/transport.h"

namespace muster::client {
namespace {

void append(std::string& text, const std::vector<http::Chunk>& chunks) {
  for (const auto& chunk : chunks) text += chunk.text;
}

// The server may answer from any thread; everything the caller sees happens on the loop.
class LocalExchange final : public http::Exchange,
                            public std::enable_shared_from_this<LocalExchange> {
 public:
  LocalExchange(Loop& loop, http::Request request) : loop_(loop), request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }

  void respond(http::Response response) override {
    on_loop([response = std::move(response)](LocalExchange& self) mutable {
      self.deliver(std::move(response));
    });
  }

  void start_stream(http::Response head) override {
    on_loop([head = std::move(head)](LocalExchange& self) {
      if (self.events_.head) self.events_.head(head.status);
      std::string text;
      append(text, head.body);
      self.pass_on(text);
    });
  }

  void send(std::vector<http::Chunk> chunks) override {
    std::string text;
    append(text, chunks);
    unsent_ += text.size();
    on_loop([text = std::move(text)](LocalExchange& self) {
      self.unsent_ -= text.size();
      self.pass_on(text);
    });
  }

  void finish() override {
    on_loop([](LocalExchange& self) { self.end(Status{}); });
  }
  void abort() override {
    on_loop([](LocalExchange& self) {
      self.end(fail(Code::kUnavailable, "the server cut the stream"));
    });
  }
  std::size_t unsent_bytes() const override { return unsent_; }

  void post(Task task) override {
    loop_.post([self = shared_from_this(), task = std::move(task)]() mutable {
      if (!self->closed_) task();
    });
  }

  void set_timer(Duration delay, Task task) override {
    post([this, delay, task = std::move(task)]() mutable {
      loop_.cancel(timer_);
      timer_ = loop_.after(delay, [self = shared_from_this(), task = std::move(task)]() mutable {
        if (!self->closed_) task();
      });
    });
  }

  void on_close(Task task) override {
    loop_.post([self = shared_from_this(), task = std::move(task)]() mutable {
      if (self->closed_) return task();
      self->close_ = std::move(task);
    });
  }

  // The caller's side, on the loop.
  Transport::Done done_;
  Transport::StreamEvents events_;

  void close() {
    if (std::exchange(closed_, true)) return;
    loop_.cancel(timer_);
    done_ = nullptr;
    events_ = {};
    if (close_) std::exchange(close_, nullptr)();
  }

 private:
  template <class F>
  void on_loop(F action) {
    loop_.post([self = shared_from_this(), action = std::move(action)]() mutable {
      if (!self->closed_) action(*self);
    });
  }

  void deliver(http::Response response) {
    std::string body;
    if (response.object == nullptr || !done_) append(body, response.body);
    if (done_) {
      auto done = std::exchange(done_, nullptr);
      close();
      return done(Answer{response.status, std::move(response.headers), std::move(body),
                         std::move(response.object)});
    }
    // A stream that was refused: its one answer is all there is.
    if (events_.head) events_.head(response.status);
    pass_on(body);
    end(Status{});
  }

  void pass_on(std::string_view text) {
    if (!closed_ && !text.empty() && events_.data) events_.data(text);
  }

  void end(Status why) {
    if (closed_) return;
    auto ended = events_.end;
    close();
    if (ended) ended(std::move(why));
  }

  Loop& loop_;
  http::Request request_;
  std::atomic<std::size_t> unsent_ = 0;
  bool closed_ = false;
  Task close_;
  TimerId timer_ = TimerId::kNone;
};

class LocalStream final : public Transport::Stream {
 public:
  explicit LocalStream(std::shared_ptr<LocalExchange> exchange) : exchange_(std::move(exchange)) {}
  ~LocalStream() override { exchange_->close(); }

 private:
  std::shared_ptr<LocalExchange> exchange_;
};

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(Loop& loop, http::Handler handler, store::Store* store)
      : loop_(loop),
        handler_(std::move(handler)),
        feed_(store == nullptr ? nullptr : std::make_unique<Feed>(*store, loop)) {}

  void send(http::Request request, Done done) override {
    if (loop_.monotonic() > request.not_after) return refuse(std::move(done));
    auto exchange = std::make_shared<LocalExchange>(loop_, std::move(request));
    exchange->done_ = std::move(done);
    handler_(std::move(exchange));
  }

  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override {
    auto exchange = std::make_shared<LocalExchange>(loop_, std::move(request));
    exchange->events_ = std::move(events);
    handler_(exchange);
    return std::make_unique<LocalStream>(std::move(exchange));
  }

  Loop& loop() override { return loop_; }
  Feed* feed() override { return feed_.get(); }

 private:
  void refuse(Done done) {
    loop_.post([done = std::move(done)]() mutable {
      done(fail(Code::kUnavailable, "it is too late to send this"));
    });
  }

  Loop& loop_;
  http::Handler handler_;
  std::unique_ptr<Feed> feed_;
};

}  // namespace

std::unique_ptr<Transport> make_in_process_transport(Loop& loop, http::Handler handler,
                                                     store::Store* store) {
  return std::make_unique<InProcessTransport>(loop, std::move(handler), store);
}

}  // namespace muster::client
