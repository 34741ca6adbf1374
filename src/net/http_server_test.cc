#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
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
    const bool came =
        came_.wait_for(lock, std::chrono::seconds(60), [this] { return !waiting_.empty(); });
    MUSTER_ASSERT(came, "no request has come");
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

TEST(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(
      get("/1") + "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody" + get("/3")));
  for (const char* expected : {"GET /1 []", "POST /2 [body]", "GET /3 []"}) {
    echo(mailbox.take());
    EXPECT_EQ(client.read_answer().body, expected);
  }
}

TEST(HttpServer, ALongRowOfPipelinedRequestsIsServedWithoutHoldingItAll) {
  const auto server = serve(echo);
  RawClient client(server->port());
  std::string row;
  for (int i = 0; i < 5000; ++i) row += get("/pipelined");  // 200 kB, more than is ever held
  std::thread sender([&] { EXPECT_TRUE(client.send(row)); });
  sender.join();
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(client.read_answer().body, "GET /pipelined []") << i;
}

TEST(HttpServer, AnswersMayComeFromAnyThreadAndMuchLater) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  std::thread([&] { echo(exchange); }).join();
  EXPECT_EQ(client.read_answer().body, "GET / []");
}

TEST(HttpServer, StreamsReachTheClientChunkByChunk) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/watch") + get("/next")));
  const auto exchange = mailbox.take();
  exchange->start_stream({});
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  exchange->send({http::Chunk::literal("{\"type\":"), http::Chunk::own("\"ADDED\"}\n")});
  EXPECT_EQ(client.read_until("}\n\r\n"), "11\r\n{\"type\":\"ADDED\"}\n\r\n");
  exchange->finish();
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "0\r\n\r\n");
  echo(mailbox.take());
  EXPECT_EQ(client.read_answer().body, "GET /next []");
}

TEST(HttpServer, LargeAnswersArriveWhole) {
  const auto object = std::make_shared<const std::string>(3'000'000, 'o');
  const auto server = serve([&](const std::shared_ptr<http::Exchange>& exchange) {
    http::Response response;
    for (int i = 0; i < 5; ++i) {
      response.body.push_back({*object, object});
      response.body.push_back(http::Chunk::literal(","));
    }
    exchange->respond(std::move(response));
  });
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto answer = client.read_answer();
  ASSERT_EQ(answer.body.size(), 5 * (object->size() + 1));
  EXPECT_EQ(std::ranges::count(answer.body, ','), 5);
}

TEST(HttpServer, TellsHowMuchASlowReaderHasNotTaken) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/watch")));
  const auto exchange = mailbox.take();
  exchange->start_stream({});
  const auto large = std::make_shared<const std::string>(64 * 1024 * 1024, 'x');
  exchange->send({{*large, large}});
  EXPECT_GT(exchange->unsent_bytes(), 32U * 1024 * 1024);  // what no socket buffer takes
  std::promise<void> closed;
  exchange->on_close([&] { closed.set_value(); });
  exchange->abort();
  closed.get_future().wait();
  EXPECT_EQ(exchange->unsent_bytes(), 0U);
  exchange->send({http::Chunk::literal("ignored")});
  EXPECT_EQ(large.use_count(), 1) << "what was not sent is let go";
}

TEST(HttpServer, SaysWhenTheClientHasGone) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  for (const bool abruptly : {false, true}) {
    std::shared_ptr<http::Exchange> exchange;
    std::promise<void> closed;
    {
      RawClient client(server->port());
      ASSERT_TRUE(client.send(get("/watch")));
      exchange = mailbox.take();
      exchange->on_close([&] { closed.set_value(); });
      if (abruptly) client.reset();
    }
    closed.get_future().wait();
    exchange->respond(text_response("nobody listens"));
  }
}

TEST(HttpServer, OnCloseIsCalledEvenIfItIsAskedForTooLate) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  std::promise<void> first, second;
  exchange->on_close([&] { first.set_value(); });
  echo(exchange);
  first.get_future().wait();
  exchange->on_close([&] { second.set_value(); });
  second.get_future().wait();
}

TEST(HttpServer, TasksAndTimersRunOnTheExchangesThreadInOrder) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  std::vector<std::string> order;
  std::thread::id first, second;
  exchange->post([&] {
    first = std::this_thread::get_id();
    order.push_back("post");
  });
  exchange->set_timer(std::chrono::hours(1), [&] { order.push_back("replaced"); });
  exchange->set_timer(Duration(1), [&, exchange] {
    second = std::this_thread::get_id();
    order.push_back("timer");
    exchange->respond(text_response("done"));
  });
  EXPECT_EQ(client.read_answer().body, "done");
  EXPECT_THAT(order, testing::ElementsAre("post", "timer"));
  EXPECT_EQ(first, second);
}

TEST(HttpServer, AnExchangeThatEverybodyDroppedIsNotLeftHanging) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  mailbox.take().reset();
  EXPECT_EQ(client.read_answer().status(), 500);
  ASSERT_TRUE(client.send(get("/stream")));
  mailbox.take()->start_stream({});
  EXPECT_THAT(client.read_to_end(), Not(HasSubstr("0\r\n\r\n")));
}

TEST(HttpServer, ClientCertificatesBecomeThePeer) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    const http::Peer& peer = exchange->request().peer;
    exchange->respond(
        text_response(fmt::format("{}|{}|{}|{}", peer.address, peer.common_name,
                                  fmt::join(peer.organizations, ","), peer.certificate_sha256)));
  });
  RawClient alice(server->port(), test_pki().alice);
  ASSERT_TRUE(alice.send(get("/")));
  EXPECT_EQ(alice.read_answer().body,
            "127.0.0.1|alice|admins,dev|" +
                inspect_certificate(test_pki().alice.certificate_pem).value().sha256);
  RawClient nobody(server->port());
  ASSERT_TRUE(nobody.send(get("/")));
  EXPECT_EQ(nobody.read_answer().body, "127.0.0.1|||");
}

TEST(HttpServer, AStrangersCertificateIsTurnedAway) {
  const auto server = serve(echo);
  const KeyPair authority = make_authority({"stranger", {}}, kAlways).value();
  const Validity past{kAlways.not_before, kAlways.not_before + std::chrono::hours(1)};
  for (const KeyPair& identity :
       {make_client_certificate(authority, {"mallory", {}}, kAlways).value(),
        make_client_certificate(test_pki().authority, {"late", {}}, past).value(),
        make_server_certificate(test_pki().authority, {"server", {}}, {"a"}, kAlways).value()}) {
    RawClient client(server->port(), identity);
    client.send(get("/"));  // in TLS 1.3 the client learns of it only after its handshake
    EXPECT_THAT(client.read_to_end(), IsEmpty());
  }
  EXPECT_EQ(server->stats().failed_handshakes, 3U);
}

TEST(HttpServer, AnswersToHeadHaveNoBody) {
  const auto server = serve(echo);
  RawClient client(server->port());
  ASSERT_TRUE(client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" + get("/y")));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Length: 10\r\n"));
  EXPECT_EQ(client.read_answer().body, "GET /y []");
}

TEST(HttpServer, AsksForTheBodyOnlyIfItWillTakeIt) {
  const auto server = serve(echo);
  {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(
        "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    ASSERT_TRUE(client.send("ok"));
    EXPECT_EQ(client.read_answer().body, "PUT / [ok]");
  }
  RawClient client(server->port());
  ASSERT_TRUE(client.send(
      "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"));
  EXPECT_EQ(client.read_answer().status(), 413);
}

TEST(HttpServer, ConnectionCloseAndOldClientsEndTheConnection) {
  const auto server = serve(echo);
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(request));
    const std::string all = client.read_to_end();
    EXPECT_THAT(all, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(all, testing::EndsWith("GET / []"));
  }
}

struct Refused {
  const char* why;
  std::string request;
  int status;
};

TEST(HttpServer, RefusalsAreAnsweredAndEndTheConnection) {
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

TEST(HttpServer, BodiesOfAllRequestsTogetherAreBounded) {
  Mailbox mailbox;
  ServerOptions options = test_options();
  options.limits.total_body_bytes = 1000;
  const auto server = serve(mailbox.handler(), options);
  const std::string post =
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 600\r\n\r\n" + std::string(600, 'b');
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(first.send(post));
  const auto exchange = mailbox.take();
  ASSERT_TRUE(second.send(post));
  const auto refused = second.read_answer();
  EXPECT_EQ(refused.status(), 429);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 1\r\n"));
  exchange->respond({});
  EXPECT_EQ(first.read_answer().status(), 200);
  ASSERT_TRUE(first.send(post));  // the room is free again
  mailbox.take()->respond({});
  EXPECT_EQ(first.read_answer().status(), 200);
}

// Only the limit in question is short: the machine may be busy.
constexpr Duration kSoon = std::chrono::milliseconds(40);

std::unique_ptr<HttpServer> hurried(Duration ServerLimits::* limit) {
  ServerOptions options = test_options();
  options.limits.*limit = kSoon;
  return serve(echo, options);
}

TEST(HttpServer, WhoDoesNotShakeHandsIsClosed) {
  const auto server = hurried(&ServerLimits::handshake);
  const UniqueFd silent = begin_connect({"127.0.0.1", server->port()}).value();
  pollfd one{.fd = silent.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&one, 1, 10'000), 1);
  char byte;
  EXPECT_EQ(recv(silent.get(), &byte, 1, 0), 0);
}

TEST(HttpServer, ASlowHeaderIsClosedAndSoIsNone) {
  const auto server = hurried(&ServerLimits::header);
  for (const char* beginning : {"", "GET / HTTP/1.1\r\nHos"}) {
    RawClient client(server->port());
    client.send(beginning);
    EXPECT_THAT(client.read_to_end(), IsEmpty());
  }
}

TEST(HttpServer, ASlowBodyIsClosed) {
  const auto server = hurried(&ServerLimits::body);
  RawClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n123");
  EXPECT_THAT(client.read_to_end(), IsEmpty());
}

TEST(HttpServer, AnIdleConnectionIsClosed) {
  const auto server = hurried(&ServerLimits::idle);
  RawClient client(server->port());
  client.send(get("/"));
  EXPECT_THAT(client.read_to_end(), testing::EndsWith("GET / []"));
}

TEST(HttpServer, AReaderThatTakesNothingIsCut) {
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

TEST(HttpServer, ARunningExchangeHasNoDeadline) {
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

TEST(HttpServer, ConnectionsBeyondTheLimitAreClosedAtOnce) {
  ServerOptions options = test_options();
  options.limits.connections = 2;
  const auto server = serve(echo, options);
  RawClient first(server->port()), second(server->port());
  ASSERT_TRUE(first.connected() && second.connected());
  RawClient third(server->port());
  EXPECT_FALSE(third.connected());
  EXPECT_EQ(server->stats().refused_connections, 1U);
  ASSERT_TRUE(first.send(get("/")));
  EXPECT_EQ(first.read_answer().status(), 200);
}

TEST(HttpServer, CutRequestsAndCutHandshakesHarmNobody) {
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

TEST(HttpServer, StoppingLetsRunningExchangesEnd) {
  Mailbox mailbox;
  ServerOptions options = test_options();
  options.limits.grace = std::chrono::seconds(10);
  const auto server = serve(mailbox.handler(), options);
  auto busy = std::make_unique<RawClient>(server->port());
  RawClient idle(server->port());
  ASSERT_TRUE(busy->send(get("/")));
  const auto exchange = mailbox.take();
  std::thread stopping([&] { server->stop(); });
  EXPECT_THAT(idle.read_to_end(), IsEmpty());  // which also says that stopping has begun
  echo(exchange);
  EXPECT_THAT(busy->read_to_end(), HasSubstr("Connection: close\r\n"));
  busy.reset();
  stopping.join();
  EXPECT_EQ(server->stats().open_connections, 0U);
  EXPECT_FALSE(RawClient(server->port()).connected());
}

TEST(HttpServer, StoppingCutsWhatDoesNotEndInTime) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/watch")));
  const auto exchange = mailbox.take();
  bool closed = false;
  exchange->start_stream({});
  exchange->on_close([&] { closed = true; });
  server->stop();
  EXPECT_TRUE(closed);
  exchange->send({http::Chunk::literal("to nobody")});
  exchange->post([] { ADD_FAILURE() << "the server is gone"; });
  exchange->finish();
}

TEST(HttpServer, AnExchangeMayOutliveItsServer) {
  Mailbox mailbox;
  std::shared_ptr<http::Exchange> exchange;
  {
    const auto server = serve(mailbox.handler());
    RawClient client(server->port());
    ASSERT_TRUE(client.send(get("/")));
    exchange = mailbox.take();
  }
  echo(exchange);
  exchange->on_close([] { ADD_FAILURE() << "there is no thread left to call this"; });
}

TEST(HttpServer, StartingFailsWithAReason) {
  const auto server = serve(echo);
  const auto why = [](ServerOptions options) {
    return HttpServer::start(std::move(options), echo).error().message;
  };
  ServerOptions taken = test_options();
  taken.port = server->port();
  EXPECT_THAT(why(taken), HasSubstr("Address already in use"));
  ServerOptions named = test_options();
  named.address = "localhost";
  EXPECT_THAT(why(named), HasSubstr("not a numeric address"));
  ServerOptions mixed = test_options();
  mixed.private_key_pem = test_pki().alice.private_key_pem;
  EXPECT_THAT(why(mixed), HasSubstr("do not go together"));
  ServerOptions empty;
  EXPECT_THAT(why(empty), HasSubstr("cannot read the PEM certificate"));
}

TEST(HttpServer, ManyThreadsAnswerManyClients) {
  constexpr int kClients = 8;
  constexpr int kRequests = 30;
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kClients * kRequests / 2; ++i) {
        const auto exchange = mailbox.take();
        exchange->on_close([exchange] {});
        if (i % 3 == 0) {
          exchange->set_timer(std::chrono::hours(1), [] {});
          exchange->start_stream({});
          exchange->send({http::Chunk::literal("chunk")});
          exchange->finish();
        } else {
          exchange->respond(text_response("plain"));
        }
      }
    });
  }
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&] {
      RawClient client(server->port());
      for (int i = 0; i < kRequests; ++i) {
        client.send(get("/"));
        const auto answer = client.read_answer();
        if (answer.head.contains("chunked")) {
          EXPECT_EQ(client.read_until("0\r\n\r\n"), "5\r\nchunk\r\n0\r\n\r\n");
        } else {
          EXPECT_EQ(answer.body, "plain");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server->stats().requests, static_cast<unsigned>(kClients * kRequests));
}

}  // namespace
}  // namespace muster::net
