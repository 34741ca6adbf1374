#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "net/testing.h"

namespace muster::net {
namespace http_server_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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
  server->stop();
  EXPECT_EQ(server->stats().failed_handshakes, 3U);
}

TEST(HttpServer, ARenewedCertificateIsForNewConnectionsAndOldOnesGoOn) {
  constexpr Validity kPast{Time(std::chrono::seconds(1'000'000'000)),
                           Time(std::chrono::seconds(1'100'000'000))};
  const TestPki& pki = test_pki();
  ServerOptions options = test_options();
  const auto server = serve(echo, options);
  RawClient old(server->port());
  const auto ended = make_server_certificate(pki.authority, {"server", {}}, {"127.0.0.1"}, kPast);
  ASSERT_TRUE(server->renew(*ended, pki.authority.certificate_pem));
  EXPECT_THAT(RawClient(server->port()).failure(), HasSubstr("certificate has expired"));
  ASSERT_TRUE(old.send(get("/old")));
  EXPECT_EQ(old.read_answer().body, "GET /old []");

  EXPECT_FALSE(server->renew({"no", "certificate"}, pki.authority.certificate_pem));
  EXPECT_FALSE(RawClient(server->port()).connected()) << "nothing has changed";
  ASSERT_TRUE(server->renew(pki.server, pki.authority.certificate_pem));
  RawClient renewed(server->port(), pki.alice);
  ASSERT_TRUE(renewed.send(get("/new")));
  EXPECT_EQ(renewed.read_answer().body, "GET /new []");
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

}  // namespace http_server_test
}  // namespace muster::net
