// The transport over HTTPS, against a server on loopback.
#include "client/https.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "client/client.h"
#include "net/testing.h"

namespace muster::client {
namespace https_test {

class Https : public ::testing::Test {
 protected:
  std::unique_ptr<Transport> transport_to(const net::HttpServer& server, HttpsOptions options) {
    return make_https_transport(*loop_,
                                {.url = fmt::format("https://127.0.0.1:{}", server.port()),
                                 .ca_pem = net::test_pki().authority.certificate_pem},
                                options)
        .value();
  }

  std::unique_ptr<Loop> loop_ = make_real_loop();
};

TEST_F(Https, WatchesHoldUpNoRequest) {
  constexpr int kWatches = 8;
  const auto server = net::serve([](std::shared_ptr<http::Exchange> exchange) {
    if (exchange->request().method != "GET") return exchange->respond(net::text_response("{}"));
    exchange->start_stream({});
    exchange->set_timer(std::chrono::hours(1), [exchange] {});
  });
  const auto transport = transport_to(*server, {.max_connections = 1});
  Client client(*transport, "test");
  int open = 0;
  std::vector<std::unique_ptr<Transport::Stream>> watches;
  for (int i = 0; i < kWatches; ++i) {
    watches.push_back(client.stream("/api/v1/pods?watch=true",
                                    {.head =
                                         [&](int) {
                                           if (++open == kWatches) loop_->stop();
                                         },
                                     .data = {},
                                     .end = [](const Status&) { ADD_FAILURE() << "it goes on"; }}));
  }
  loop_->run();
  Result<std::string> answer;
  client.write({.verb = Verb::kUpdate,
                .resource = api::Registry::builtin().find("coordination.k8s.io", "v1", "leases"),
                .ns = "d",
                .name = "lease",
                .body = "{}"},
               [&](Result<std::string> body) {
                 answer = std::move(body);
                 loop_->stop();
               });
  loop_->run();
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "{}");
}

TEST_F(Https, AWriteThatComesTooLateIsNotSent) {
  std::atomic<int> seen = 0;
  const auto server = net::serve([&](const std::shared_ptr<http::Exchange>& exchange) {
    ++seen;
    exchange->respond(net::text_response("{}"));
  });
  const auto transport = transport_to(*server, {});
  const auto ask = [&](Duration not_after) {
    Result<Answer> answer;
    transport->send({.method = "POST", .target = "/", .not_after = not_after},
                    [&](Result<Answer> came) {
                      answer = std::move(came);
                      loop_->stop();
                    });
    loop_->run();
    return answer;
  };
  EXPECT_TRUE(ask(loop_->monotonic() + std::chrono::hours(1)));
  const auto late = ask(loop_->monotonic() - std::chrono::microseconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kUnavailable);
  EXPECT_EQ(seen, 1);
}

}  // namespace https_test
}  // namespace muster::client
