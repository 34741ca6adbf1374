#include "server/blocking_exchange.h"

namespace muster::server {
namespace {

class BlockingExchange final : public http::Exchange {
 public:
  explicit BlockingExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }

  void respond(http::Response response) override {
    Reply reply{response.status, std::move(response.headers), {}};
    for (const http::Chunk& chunk : response.body) reply.body += chunk.text;
    const std::lock_guard lock(mutex_);
    if (!reply_) reply_ = std::move(reply);
    changed_.notify_one();
  }

  void start_stream(http::Response head) override { respond(std::move(head)); }
  void send(std::vector<http::Chunk>) override {}
  void finish() override {}
  std::size_t unsent_bytes() const override { return 0; }
  void abort() override { respond({.status = 500, .headers = {}, .body = {}}); }
  void set_timer(Duration, Task) override { respond({.status = 504, .headers = {}, .body = {}}); }
  void on_close(Task task) override { task(); }

  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    if (reply_) return;  // nobody listens any more
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  Reply wait() {
    std::unique_lock lock(mutex_);
    while (!reply_) {
      changed_.wait(lock, [this] { return reply_ || !tasks_.empty(); });
      while (!tasks_.empty()) {
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        task = nullptr;  // what it holds may post or answer in its turn
        lock.lock();
      }
    }
    return *std::move(reply_);
  }

 private:
  const http::Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::optional<Reply> reply_;
};

}  // namespace

Reply ask(ApiServer& server, http::Request request, User user) {
  const auto exchange = std::make_shared<BlockingExchange>(std::move(request));
  server.handle_as(exchange, std::move(user));
  return exchange->wait();
}

}  // namespace muster::server
