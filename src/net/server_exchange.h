// One request being answered: the meeting point of the threads that answer and the I/O thread.
//
// A call from any thread becomes an operation in an inbox, and the I/O thread carries the inbox
// out in order. While the handler itself runs no wake-up is needed: its operations are carried out
// when it returns. So no code of a caller is ever on the stack when another of its callbacks runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/http.h"
#include "net/reactor.h"

namespace muster::net {

// The side of the connection, called on its I/O thread only.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void respond(http::Response response) = 0;
  virtual void start_stream(http::Response head) = 0;
  virtual void send(std::vector<http::Chunk> chunks) = 0;
  virtual void finish() = 0;
  virtual void upgrade(http::Upgrade upgrade) = 0;
  virtual void hold_messages(bool hold) = 0;
  virtual void await_sent() = 0;  // somebody does, from now on
  virtual void abort() = 0;
  // Nobody holds the exchange any more: an answer that has not begun or ended will never.
  virtual void abandon() = 0;
  virtual void flush() = 0;  // after each batch of the above
};

class ServerExchange final : public http::Exchange,
                             public std::enable_shared_from_this<ServerExchange> {
 public:
  ServerExchange(std::shared_ptr<Reactor> reactor, std::shared_ptr<AnswerSink> sink,
                 http::Request request);

  // Calls the handler with this exchange, then does what it asked for. On the I/O thread.
  void run(const http::Handler& handler);
  // The client has gone or the answer is complete. On the I/O thread.
  void close();
  // How much waits in the connection's queue. On the I/O thread.
  void set_queued(std::size_t bytes) { queued_ = bytes; }
  // The connection's queue is empty. On the I/O thread.
  void tell_sent();
  // Whether somebody waits for that.
  bool is_awaited() const { return when_sent_ != nullptr; }

  const http::Request& request() const override { return request_; }
  void respond(http::Response response) override;
  void start_stream(http::Response head) override;
  void send(std::vector<http::Chunk> chunks) override;
  void finish() override;
  void upgrade(http::Upgrade upgrade) override;
  void hold_messages(bool hold) override;
  std::size_t unsent_bytes() const override { return handed_over_ + queued_; }
  void when_sent(Task task) override;
  void abort() override;
  void post(Task task) override;
  void set_timer(Duration delay, Task task) override;
  void on_close(Task task) override;

 private:
  using Operation = std::move_only_function<void(AnswerSink&)>;
  std::size_t hand_over(const std::vector<http::Chunk>& chunks);  // counts and returns their size
  void enqueue(Operation operation);
  void drain();

  const http::Request request_;
  const std::shared_ptr<Reactor> reactor_;
  std::atomic<std::size_t> handed_over_ = 0;  // in the inbox
  std::atomic<std::size_t> queued_ = 0;       // in the connection's queue

  std::mutex mutex_;
  std::vector<Operation> inbox_;  // bounded by the producers, who watch unsent_bytes()
  bool draining_ = true;          // drain() is running or posted; at first run() does it
  bool closed_ = false;
  Task on_close_;

  // The I/O thread's own.
  std::shared_ptr<AnswerSink> sink_;
  std::unique_ptr<Timer> timer_;
  Task when_sent_;
};

}  // namespace muster::net
