#include "net/server_exchange.h"

#include <utility>

namespace muster::net {

ServerExchange::ServerExchange(std::shared_ptr<Reactor> reactor, std::shared_ptr<AnswerSink> sink,
                               http::Request request)
    : request_(std::move(request)), reactor_(std::move(reactor)), sink_(std::move(sink)) {}

void ServerExchange::run(const http::Handler& handler) {
  // The handle that is passed around ends with its last holder; the connection keeps the exchange
  // itself for as long as there is something to write.
  const auto self = shared_from_this();
  std::shared_ptr<http::Exchange> handle(
      this, [self](http::Exchange*) { self->enqueue([](AnswerSink& sink) { sink.abandon(); }); });
  handler(std::move(handle));
  drain();
}

void ServerExchange::close() {
  Task task;
  std::vector<Operation> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(inbox_);
    task = std::exchange(on_close_, nullptr);
  }
  handed_over_ = 0;
  queued_ = 0;
  timer_.reset();
  when_sent_ = nullptr;
  sink_.reset();
  if (task) task();
}

void ServerExchange::enqueue(Operation operation) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    inbox_.push_back(std::move(operation));
    if (std::exchange(draining_, true)) return;
  }
  reactor_->post([self = shared_from_this()] { self->drain(); });
}

// One batch at a time: a task that posts itself again lets other connections run in between.
void ServerExchange::drain() {
  const auto sink = sink_;  // may be given up on the way
  std::vector<Operation> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(inbox_);
  }
  for (Operation& operation : batch) {
    if (sink_) operation(*sink);
  }
  if (sink_) sink->flush();
  batch.clear();
  {
    const std::lock_guard lock(mutex_);
    draining_ = !inbox_.empty() && !closed_;
    if (!draining_) return;
  }
  reactor_->post([self = shared_from_this()] { self->drain(); });
}

std::size_t ServerExchange::hand_over(const std::vector<http::Chunk>& chunks) {
  std::size_t size = 0;
  for (const http::Chunk& chunk : chunks) size += chunk.text.size();
  handed_over_ += size;
  return size;
}

void ServerExchange::respond(http::Response response) {
  const std::size_t size = hand_over(response.body);
  enqueue([this, size, response = std::move(response)](AnswerSink& sink) mutable {
    sink.respond(std::move(response));
    handed_over_ -= size;  // only now: nothing may seem sent in between
  });
}

void ServerExchange::start_stream(http::Response head) {
  const std::size_t size = hand_over(head.body);
  enqueue([this, size, head = std::move(head)](AnswerSink& sink) mutable {
    sink.start_stream(std::move(head));
    handed_over_ -= size;
  });
}

void ServerExchange::send(std::vector<http::Chunk> chunks) {
  const std::size_t size = hand_over(chunks);
  enqueue([this, size, chunks = std::move(chunks)](AnswerSink& sink) mutable {
    sink.send(std::move(chunks));
    handed_over_ -= size;
  });
}

void ServerExchange::finish() {
  enqueue([](AnswerSink& sink) { sink.finish(); });
}

void ServerExchange::upgrade(http::Upgrade upgrade) {
  enqueue([upgrade = std::move(upgrade)](AnswerSink& sink) mutable {
    sink.upgrade(std::move(upgrade));
  });
}

void ServerExchange::hold_messages(bool hold) {
  enqueue([hold](AnswerSink& sink) { sink.hold_messages(hold); });
}

void ServerExchange::when_sent(Task task) {
  enqueue([this, task = std::move(task)](AnswerSink& sink) mutable {
    when_sent_ = std::move(task);
    sink.await_sent();
  });
}

void ServerExchange::tell_sent() {
  if (when_sent_) std::exchange(when_sent_, nullptr)();
}

void ServerExchange::abort() {
  enqueue([](AnswerSink& sink) { sink.abort(); });
}

void ServerExchange::post(Task task) {
  enqueue([task = std::move(task)](AnswerSink&) mutable { task(); });
}

void ServerExchange::set_timer(Duration delay, Task task) {
  enqueue([this, delay, task = std::move(task)](AnswerSink&) mutable {
    if (!timer_) timer_ = std::make_unique<Timer>(*reactor_);
    timer_->start(delay, std::move(task));
  });
}

// Unlike other calls not lost if the client has gone meanwhile: whoever registers something for
// this exchange relies on being told when to forget it.
void ServerExchange::on_close(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      on_close_ = std::move(task);
      return;
    }
  }
  reactor_->post(std::move(task));
}

}  // namespace muster::net
