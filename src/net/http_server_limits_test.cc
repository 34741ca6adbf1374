#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "net/testing.h"
#include "net/testing_frames.h"

namespace muster::net {
namespace http_server_limits_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Refused {
  const char* why;
  std::string request;
  int status;
};

TEST(HttpServerLimits, RefusalsAreAnsweredAndEndTheConnection) {
  ServerOptions options = test_options();
  options.allowed_hosts = {"localhost"};
  const auto server = serve([](const auto&) { ADD_FAILURE() << "was not refused"; }, options);
  const Refused cases[] = {
      {"garbage", "\x01\x02\x03 garbage\r\n\r\n", 400},
      {"smuggling",
       "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: "
       "chunked\r\n\r\n",
       400},
      {"rebinding", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
      {"another site's script",
       "DELETE / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n", 403},
      {"another site's page",
       "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403},
      {"header too large",
       "GET / HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n", 431},
      {"body too large", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3145729\r\n\r\n",
       413},
      {"body too large, and sent all the same",
       "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n" +
           std::string(9'000'000, 'b'),
       413},
  };
  for (const Refused& c : cases) {
    RawClient client(server->port());
    client.send(c.request);
    const auto answer = client.read_answer();
    EXPECT_EQ(answer.status(), c.status) << c.why;
    EXPECT_THAT(answer.head, HasSubstr("Connection: close\r\n")) << c.why;
    EXPECT_THAT(answer.body, StartsWith(R"({"kind":"Status","apiVersion":"v1")")) << c.why;
    EXPECT_THAT(client.read_to_end(), IsEmpty()) << c.why;
  }
  EXPECT_EQ(server->stats().refused_requests, std::size(cases));
}

TEST(HttpServerLimits, BodiesOfAllRequestsTogetherAreBounded) {
  Mailbox mailbox;
  ServerOptions options = test_options();
  options.limits.total_body_bytes = 30'000;
  const auto server = serve(mailbox.handler(), options);
  // A body that comes together with its header does not count, see ServerLimits.
  const auto post = [](RawClient& client) {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n";
    return client.send(head + std::string(20'000, 'b'));
  };
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(post(first));
  const auto exchange = mailbox.take();
  ASSERT_TRUE(post(second));
  const auto refused = second.read_answer();
  EXPECT_EQ(refused.status(), 429);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 1\r\n"));
  exchange->respond({});
  EXPECT_EQ(first.read_answer().status(), 200);
  ASSERT_TRUE(post(first));  // the room is free again
  mailbox.take()->respond({});
  EXPECT_EQ(first.read_answer().status(), 200);
}

constexpr std::string_view kUnfinished =
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\nunfinished";

TEST(HttpServerLimits, ABodyIsNotReadIfItsHeaderIsRefused) {
  ServerOptions options = test_options();
  options.check_header =
      [](const http::Request& header) -> std::expected<std::string, http::Response> {
    if (header.peer.common_name == "alice") return "alice";
    return std::unexpected(http::Response{.status = 401, .headers = {}, .body = {}});
  };
  const auto server = serve(echo, options);
  RawClient nobody(server->port());
  ASSERT_TRUE(nobody.send(kUnfinished));
  EXPECT_EQ(nobody.read_answer().status(), 401) << "the rest of the body was not waited for";
  EXPECT_THAT(nobody.read_to_end(), IsEmpty());

  RawClient polite(server->port());
  ASSERT_TRUE(
      polite.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                  "Content-Length: 4\r\n\r\n"));
  EXPECT_EQ(polite.read_answer().status(), 401) << "and was not asked for";

  RawClient alice(server->port(), test_pki().alice);
  ASSERT_TRUE(alice.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n"));
  ASSERT_TRUE(alice.send(std::string(20'000, 'b')));
  EXPECT_EQ(alice.read_answer().status(), 200);
}

TEST(HttpServerLimits, UnfinishedBodiesOfOneIdentityLeaveRoomForOthers) {
  ServerOptions options = test_options();
  options.limits.identity_body_bytes = 30;
  options.limits.body_patience = std::chrono::hours(1);
  options.check_header =
      [](const http::Request& header) -> std::expected<std::string, http::Response> {
    return header.peer.common_name.empty() ? "nobody" : header.peer.common_name;
  };
  const auto server = serve(echo, options);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 4; ++i) {
    silent.push_back(std::make_unique<RawClient>(server->port()));
    ASSERT_TRUE(silent.back()->send(kUnfinished));
  }
  // 40 bytes do not fit: one of the four, whichever came last, is answered.
  std::vector<pollfd> answers;
  for (const auto& client : silent)
    answers.push_back({.fd = client->fd(), .events = POLLIN, .revents = 0});
  ASSERT_EQ(poll(answers.data(), answers.size(), 10'000), 1);
  RawClient alice(server->port(), test_pki().alice);
  ASSERT_TRUE(alice.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"));
  ASSERT_TRUE(alice.send("0123456789"));
  EXPECT_EQ(alice.read_answer().status(), 200);
}

TEST(HttpServerLimits, ANewBodyDisplacesOneThatDoesNotCome) {
  ServerOptions options = test_options();
  options.limits.total_body_bytes = 15;
  options.limits.body_patience = Duration::zero();
  const auto server = serve(echo, options);
  RawClient slow(server->port()), quick(server->port());
  ASSERT_TRUE(
      slow.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                "Content-Length: 20\r\n\r\n"));
  slow.read_until("\r\n\r\n");  // it is the older one
  ASSERT_TRUE(slow.send("unfinished"));
  ASSERT_TRUE(quick.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n01234"));
  ASSERT_TRUE(quick.send("5678"));
  EXPECT_EQ(slow.read_answer().status(), 429);
  ASSERT_TRUE(quick.send("9"));
  EXPECT_EQ(quick.read_answer().body, "POST / [0123456789]");
}

// Only the limit in question is short: the machine may be busy.
constexpr Duration kSoon = std::chrono::milliseconds(40);

std::unique_ptr<HttpServer> hurried(Duration ServerLimits::* limit) {
  ServerOptions options = test_options();
  options.limits.*limit = kSoon;
  return serve(echo, options);
}

TEST(HttpServerLimits, WhoDoesNotShakeHandsIsClosed) {
  const auto server = hurried(&ServerLimits::handshake);
  const UniqueFd silent = begin_connect({"127.0.0.1", server->port()}).value();
  pollfd one{.fd = silent.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&one, 1, 10'000), 1);
  char byte;
  EXPECT_EQ(recv(silent.get(), &byte, 1, 0), 0);
}

TEST(HttpServerLimits, ASlowHeaderIsClosedAndSoIsNone) {
  const auto server = hurried(&ServerLimits::header);
  for (const char* beginning : {"", "GET / HTTP/1.1\r\nHos"}) {
    RawClient client(server->port());
    client.send(beginning);
    EXPECT_THAT(client.read_to_end(), IsEmpty());
  }
}

TEST(HttpServerLimits, ASlowBodyIsClosed) {
  const auto server = hurried(&ServerLimits::body);
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n123");
  EXPECT_THAT(client.read_to_end(), IsEmpty());
}

TEST(HttpServerLimits, AnIdleConnectionIsClosed) {
  const auto server = hurried(&ServerLimits::idle);
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_THAT(client.read_to_end(), testing::EndsWith("GET / []"));
}

TEST(HttpServerLimits, AReaderThatTakesNothingIsCut) {
  ServerOptions options = test_options();
  options.limits.write = kSoon;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler(), options);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  std::promise<void> closed;
  exchange->on_close([&] { closed.set_value(); });
  exchange->respond(text_response(std::string(64 * 1024 * 1024, 'x')));
  closed.get_future().wait();
  EXPECT_EQ(server->stats().timed_out_connections, 1U);
}

TEST(HttpServerLimits, AReaderForWhomItsProducerWaitsMayPause) {
  ServerOptions options = test_options();
  options.limits.write = kSoon;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler(), options);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  const std::size_t large = 64u << 20;  // what no socket buffer takes
  std::promise<void> paused;
  exchange->start_stream({});
  exchange->send({http::Chunk::own(std::string(large, 'x'))});
  exchange->when_sent([exchange] { exchange->finish(); });
  exchange->set_timer(4 * kSoon, [&] { paused.set_value(); });
  paused.get_future().wait();
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_bytes(large).size(), large);
  EXPECT_THAT(client.read_until("0\r\n\r\n"), testing::EndsWith("0\r\n\r\n"));
}

TEST(HttpServerLimits, AWebSocketOnWhichNothingMovesIsClosed) {
  ServerOptions options = test_options();
  options.limits.pause = kSoon;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler(), options);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(websocket_request("/")));
  const auto exchange = mailbox.take();
  exchange->upgrade({.protocol = {}, .message = [](std::string_view) {}});
  client.read_until("\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), IsEmpty());
  EXPECT_EQ(server->stats().timed_out_connections, 1U);
}

TEST(HttpServerLimits, ARunningExchangeHasNoDeadline) {
  ServerOptions options = test_options();
  options.limits.idle = options.limits.write = kSoon;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler(), options);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/watch")));
  const auto exchange = mailbox.take();
  exchange->start_stream({});
  exchange->set_timer(3 * kSoon, [exchange] {
    exchange->send({http::Chunk::literal("late")});
    exchange->finish();
  });
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("late"));
}

TEST(HttpServerLimits, AtTheLimitTheConnectionThatWasSilentLongestIsClosed) {
  ServerOptions options = test_options();
  options.limits.connections = 2;
  options.threads = 1;
  const auto server = serve(echo, options);
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(second.send(get("/")));
  EXPECT_EQ(second.read_answer().status(), 200);
  ASSERT_TRUE(first.send(get("/")));
  EXPECT_EQ(first.read_answer().status(), 200);
  RawClient third(server->port());
  ASSERT_TRUE(third.send(get("/")));
  EXPECT_EQ(third.read_answer().status(), 200);
  EXPECT_THAT(second.read_to_end(), IsEmpty());
  ASSERT_TRUE(first.send(get("/")));
  EXPECT_EQ(first.read_answer().status(), 200);
  EXPECT_EQ(server->stats().shed_connections, 1U);
  EXPECT_EQ(server->stats().refused_connections, 0U);
}

TEST(HttpServerLimits, ConnectionsBeyondTheLimitAreClosedIfAllOthersWaitForAnAnswer) {
  ServerOptions options = test_options();
  options.limits.connections = 2;
  options.threads = 1;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler(), options);
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(first.send(get("/")) && second.send(get("/")));
  const auto one = mailbox.take(), two = mailbox.take();
  RawClient third(server->port());
  EXPECT_FALSE(third.connected());
  EXPECT_EQ(server->stats().refused_connections, 1U);
  one->respond({});
  two->respond({});
  EXPECT_EQ(first.read_answer().status(), 200);
}

TEST(HttpServerLimits, CutRequestsAndCutHandshakesHarmNobody) {
  const auto server = serve(echo);
  const std::string request =
      "POST /cut HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
  for (std::size_t length = 0; length < request.size(); length += 7) {
    RawClient client(server->port());
    client.send(request.substr(0, length));
    if (length % 2 == 1) client.reset();
  }
  for (const std::string_view hello : {"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02"}) {
    const UniqueFd fd = begin_connect({"127.0.0.1", server->port()}).value();
    pollfd one{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    poll(&one, 1, 10'000);
    send(fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
  }
  RawClient client(server->port());
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(client.read_answer().body, "POST /cut [body]");
}

}  // namespace http_server_limits_test
}  // namespace muster::net
