#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "net/testing.h"

namespace muster::net {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

http::Response text_response(std::string text) {
  http::Response response;
  response.headers = {{"Content-Type", "text/plain"}};
  response.body.push_back(http::Chunk::own(std::move(text)));
  return response;
}

// Answers with what was asked.
void echo(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request();
  exchange->respond(
      text_response(request.method + " " + request.target + " [" + request.body + "]"));
}

// Hands exchanges from the server's threads to the test.
class Mailbox {
 public:
  http::Handler handler() {
    return [this](std::shared_ptr<http::Exchange> exchange) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(exchange));
      came_.notify_all();
    };
  }
  std::shared_ptr<http::Exchange> take() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !waiting_.empty(); });
    auto first = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::shared_ptr<http::Exchange>> waiting_;
};

std::unique_ptr<HttpServer> serve(http::Handler handler, ServerOptions options = test_options()) {
  return HttpServer::start(std::move(options), std::move(handler)).value();
}

std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
}

TEST(HttpServer, AnswersManyRequestsOnOneConnection) {
  const auto server = serve(echo);
  RawClient client(server->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(get(fmt::format("/{}", i))));
    const auto answer = client.read_answer();
    EXPECT_THAT(answer.head, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: "));
    EXPECT_THAT(answer.head, Not(HasSubstr("Connection")));
    EXPECT_EQ(answer.body, fmt::format("GET /{} []", i));
  }
  EXPECT_EQ(server->stats().accepted_connections, 1U);
  EXPECT_EQ(server->stats().requests, 3U);
}

}  // namespace
}  // namespace muster::net
