// A server over a store in memory, and requests that need no sockets. For tests only.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/metrics.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "server/api_server.h"
#include "store/durability.h"
#include "store/store.h"

namespace muster::server::testing {

// An exchange whose events are kept, whose posted tasks run at once and whose timer is fired by
// hand.
class TestExchange final : public http::Exchange {
 public:
  explicit TestExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  void respond(http::Response response) override {
    if (status != 0) return;
    take_head(response);
    complete = true;
  }
  void start_stream(http::Response head) override { take_head(head); }
  void send(std::vector<http::Chunk> chunks) override {
    if (upgraded) messages.emplace_back();
    for (const http::Chunk& chunk : chunks) {
      (upgraded ? messages.back() : body) += chunk.text;
      unsent += stuck ? chunk.text.size() : 0;
    }
  }
  void finish() override { end(); }
  void abort() override {
    aborted = true;
    end();
  }
  void upgrade(http::Upgrade upgrade) override {
    status = 101;
    upgraded = std::move(upgrade);
  }
  void hold_messages(bool hold) override { holds_messages = hold; }
  std::size_t unsent_bytes() const override { return unsent; }
  void when_sent(Task task) override {
    if (unsent == 0) return post(std::move(task));
    sent_ = std::move(task);
  }
  void post(Task task) override {
    tasks_.push_back(std::move(task));
    if (running_) return;
    running_ = true;
    while (!tasks_.empty()) {
      Task next = std::move(tasks_.front());
      tasks_.pop_front();
      next();
    }
    running_ = false;
  }
  void set_timer(Duration delay, Task task) override {
    timer_delay = delay;
    timer_ = std::move(task);
  }
  void on_close(Task task) override { close_ = std::move(task); }

  // The test's side.
  bool fire() {  // false if no timer is set
    if (!timer_) return false;
    Task task = std::exchange(timer_, nullptr);
    task();
    return true;
  }
  void hang_up() { end(); }
  void catch_up() {  // the client has read all
    unsent = 0;
    if (complete) return end();
    if (sent_) std::exchange(sent_, nullptr)();
  }
  json::Value json(json::Arena& arena) const {
    Result<json::Value> tree = json::parse(arena, body);
    return tree ? *tree : json::Value();
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end_of_line = body.find('\n', at);
      out.push_back(body.substr(at, end_of_line - at));
      at = end_of_line + 1;
    }
    return out;
  }

  int status = 0;
  http::Headers headers;
  std::string body;
  store::ObjectPtr object;  // which the body shows as it is stored, if it does
  bool complete = false;
  bool aborted = false;
  bool stuck = false;  // the client reads nothing
  std::size_t unsent = 0;
  std::optional<http::Upgrade> upgraded;
  std::vector<std::string> messages;
  bool holds_messages = false;
  Duration timer_delay{};

 private:
  void take_head(const http::Response& response) {
    status = response.status;
    headers = response.headers;
    object = response.object;
    for (const http::Chunk& chunk : response.body) {
      body += chunk.text;
      unsent += stuck ? chunk.text.size() : 0;
    }
  }
  void end() {
    complete = true;
    timer_ = nullptr;
    sent_ = nullptr;
    upgraded.reset();
    if (close_) std::exchange(close_, nullptr)();
  }

  const http::Request request_;
  std::deque<Task> tasks_;
  bool running_ = false;
  Task timer_;
  Task sent_;
  Task close_;
};
using TestExchangePtr = std::shared_ptr<TestExchange>;

// Commits on the calling thread: when a call returns, its answer is there.
class TestServer {
 public:
  explicit TestServer(Options options = {}, bool commit_inline = true) {
    auto opened = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                     clock, metrics, {.commit_inline = commit_inline});
    MUSTER_ASSERT(opened.has_value(), "a store in memory opens");
    store = *std::move(opened);
    api = std::make_unique<ApiServer>(*store, api::Registry::builtin(), clock, metrics,
                                      std::move(options));
  }

  // As a transport that stops: who still watches is cut off.
  ~TestServer() {
    for (const auto& sent : sent_) {
      if (const auto exchange = sent.lock()) exchange->hang_up();
    }
  }

  TestExchangePtr send(std::string method, std::string target, std::string body = "",
                       http::Headers headers = {}, http::Peer peer = {}) {
    auto exchange = std::make_shared<TestExchange>(request(std::move(method), std::move(target),
                                                           std::move(body), std::move(headers),
                                                           std::move(peer)));
    {
      const std::lock_guard lock(mutex_);
      sent_.push_back(exchange);
    }
    api->handle(exchange);
    return exchange;
  }
  // As a member of system:masters.
  TestExchangePtr admin(std::string method, std::string target, std::string body = "",
                        http::Headers headers = {}) {
    return send(std::move(method), std::move(target), std::move(body), std::move(headers),
                {.address = "127.0.0.1",
                 .common_name = "admin",
                 .organizations = {"system:masters"},
                 .certificate_sha256 = {}});
  }
  TestExchangePtr patch(std::string target, std::string body,
                        std::string type = "merge-patch+json") {
    return admin("PATCH", std::move(target), std::move(body),
                 {{"Content-Type", "application/" + type}});
  }
  void make_namespace(const std::string& name) {
    admin("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})");
    admin("POST", "/api/v1/namespaces/" + name + "/serviceaccounts",
          R"({"metadata":{"name":"default"},"automountServiceAccountToken":false})");
  }

  ManualClock clock{Time(std::chrono::seconds(1'800'000'000))};
  Metrics metrics;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<ApiServer> api;

 private:
  static http::Request request(std::string method, std::string target, std::string body,
                               http::Headers headers, http::Peer peer) {
    if (!body.empty() && http::find_header(headers, "Content-Type").empty()) {
      headers.emplace_back("Content-Type", "application/json");
    }
    if (http::find_header(headers, "User-Agent").empty())
      headers.emplace_back("User-Agent", "corpus/1.0");
    return {std::move(method), std::move(target), std::move(headers), std::move(body),
            std::move(peer)};
  }

  std::mutex mutex_;  // some tests send from several threads
  std::vector<std::weak_ptr<TestExchange>> sent_;
};

// Text at a path of a JSON body: at(exchange, {"metadata", "name"}).
inline std::string at(const TestExchange& exchange, std::initializer_list<std::string_view> path) {
  json::Arena arena;
  const json::Value value = exchange.json(arena).get(path);
  return value.is_string() ? std::string(value.as_string()) : json::write(value);
}

}  // namespace muster::server::testing
