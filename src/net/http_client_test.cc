#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "net/testing.h"

namespace muster::net {
namespace http_client_test {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

ClientOptions trusting() { return {.ca_pem = test_pki().authority.certificate_pem}; }

std::unique_ptr<HttpClient> make_client(ClientOptions options = trusting()) {
  return HttpClient::create(std::move(options)).value();
}

std::string url_of(const HttpServer& server, std::string_view path) {
  return fmt::format("https://127.0.0.1:{}{}", server.port(), path);
}

Result<Reply> fetch(HttpClient& client, ClientRequest request) {
  std::promise<Result<Reply>> promise;
  client.fetch(std::move(request),
               [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

TEST(HttpClient, AConnectionOfItsOwnIsNeitherFoundNorLeftBehind) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    const http::Headers& headers = exchange->request().headers;
    exchange->respond(text_response(fmt::format("{} {}", http::find_header(headers, "Host"),
                                                http::find_header(headers, "Connection"))));
  });
  const auto client = make_client();
  const std::string url = url_of(*server, "/");
  const auto shared = [&] { return fetch(*client, {.url = url}).value().body; };
  const auto own = [&] {
    return fetch(*client, {.url = url, .host = "other", .own_connection = true}).value().body;
  };
  EXPECT_THAT(shared(), StartsWith("127.0.0.1"));
  EXPECT_EQ(own(), "other close");
  EXPECT_EQ(own(), "other close");
  shared();
  EXPECT_EQ(server->stats().accepted_connections, 3U);
}

TEST(HttpClient, AHostWithLineEndsIsNotSent) {
  const auto client = make_client();
  const auto reply = fetch(*client, {.url = "http://127.0.0.1:1/", .host = "a\r\nb: c"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::kBadRequest);
}

// The question is put when a connection stands, and again for one that is kept.
TEST(HttpClient, WhatIsNotWantedAnyMoreIsNotSent) {
  std::atomic<int> seen = 0;
  const auto server = serve([&](const std::shared_ptr<http::Exchange>& exchange) {
    ++seen;
    exchange->respond(text_response("ok"));
  });
  const auto client = make_client();
  const auto ask = [&](bool wanted) {
    return fetch(*client, {.method = "POST",
                           .url = url_of(*server, "/"),
                           .body = "x",
                           .still_wanted = [wanted] { return wanted; }});
  };
  EXPECT_EQ(ask(false).error().code, Code::kUnavailable);
  EXPECT_TRUE(ask(true));
  EXPECT_EQ(ask(false).error().code, Code::kUnavailable);
  EXPECT_TRUE(ask(true));
  EXPECT_EQ(seen, 2);
}

TEST(HttpClient, FetchesAndKeepsTheConnection) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    const http::Request& request = exchange->request();
    exchange->respond(text_response(fmt::format("{} {} {} [{}]", request.method, request.target,
                                                http::find_header(request.headers, "Authorization"),
                                                request.body)));
  });
  const auto client = make_client();
  for (int i = 0; i < 3; ++i) {
    const auto reply = fetch(*client, {.method = "PUT",
                                       .url = url_of(*server, "/a?b"),
                                       .headers = {{"Authorization", "Bearer t"}},
                                       .body = "body"});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "PUT /a?b Bearer t [body]");
    EXPECT_THAT(reply->headers, Contains(Pair("Content-Type", "text/plain")));
  }
  EXPECT_EQ(server->stats().accepted_connections, 1U);
}

TEST(HttpClient, ManyRequestsAtOnceShareABoundedNumberOfConnections) {
  const auto server = serve(echo);
  auto options = trusting();
  options.max_connections = 4;
  const auto client = make_client(std::move(options));
  std::vector<std::promise<Result<Reply>>> promises(100);
  for (std::size_t i = 0; i < promises.size(); ++i) {
    client->fetch({.url = url_of(*server, fmt::format("/{}", i))},
                  [&promises, i](Result<Reply> reply) { promises[i].set_value(std::move(reply)); });
  }
  for (std::size_t i = 0; i < promises.size(); ++i) {
    EXPECT_EQ(promises[i].get_future().get().value().body, fmt::format("GET /{} []", i));
  }
  EXPECT_LE(server->stats().accepted_connections, 4U);
}

TEST(HttpClient, GatheredAnswersAllCome) {
  const auto server = serve(echo);
  auto options = trusting();
  options.gather = std::chrono::milliseconds(2);
  const auto client = make_client(std::move(options));
  std::vector<std::promise<std::string>> answers(20);
  for (auto& answer : answers) {
    client->fetch({.method = "POST", .url = url_of(*server, "/"), .body = "x"},
                  [&](Result<Reply> reply) { answer.set_value(reply.value().body); });
  }
  for (auto& answer : answers) EXPECT_THAT(answer.get_future().get(), HasSubstr("x"));
  EXPECT_TRUE(fetch(*client, {.url = url_of(*server, "/")}));
}

TEST(HttpClient, TooManyWaitingRequestsFailAtOnce) {
  const auto server = serve([](std::shared_ptr<http::Exchange> exchange) {
    exchange->set_timer(std::chrono::hours(1), [exchange] {});  // held, never answered
  });
  auto options = trusting();
  options.max_connections = 1;
  options.max_waiting = 1;
  const auto client = make_client(std::move(options));
  client->send({.url = url_of(*server, "/busy")}, {});
  client->send({.url = url_of(*server, "/waits")}, {});
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/")}).error().code, Code::kTooManyRequests);
}

TEST(HttpClient, StreamsOnConnectionsOfTheirOwnHoldUpNoRequest) {
  std::atomic<int> streams = 0;
  std::promise<void> all_open;
  const auto server = serve([&](std::shared_ptr<http::Exchange> exchange) {
    if (exchange->request().target == "/") return exchange->respond(text_response("ok"));
    exchange->start_stream({});
    if (++streams == 2) all_open.set_value();
    exchange->set_timer(std::chrono::hours(1), [exchange] {});
  });
  auto options = trusting();
  options.max_connections = 1;
  options.max_own_connections = 2;
  const auto client = make_client(std::move(options));
  const auto stream = [&](Duration timeout, std::move_only_function<void(Status)> on_end) {
    client->send({.url = url_of(*server, "/stream"), .own_connection = true, .timeout = timeout},
                 {.on_end = std::move(on_end)});
  };
  for (int i = 0; i < 2; ++i) stream({}, {});
  all_open.get_future().wait();
  std::promise<Status> third;
  stream(std::chrono::milliseconds(50), [&](Status why) { third.set_value(std::move(why)); });
  EXPECT_EQ(third.get_future().get().error().code, Code::kTimeout) << "there is a bound to them";
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/")}).value().body, "ok");
}

TEST(HttpClient, AStreamArrivesPieceByPieceAndEndsWithItsEnd) {
  std::promise<std::shared_ptr<http::Exchange>> arrived;
  const auto server = serve([&](std::shared_ptr<http::Exchange> exchange) {
    exchange->start_stream({});
    arrived.set_value(std::move(exchange));
  });
  const auto client = make_client();
  std::promise<int> head;
  std::promise<std::string> first, second;
  std::promise<Status> ended;
  int pieces = 0;
  client->send({.url = url_of(*server, "/watch"), .timeout = {}},
               {.on_head = [&](ResponseHead h) { head.set_value(h.status); },
                .on_data =
                    [&](std::string_view data) {
                      (pieces++ == 0 ? first : second).set_value(std::string(data));
                    },
                .on_end = [&](Status status) { ended.set_value(std::move(status)); }});
  const auto exchange = arrived.get_future().get();
  EXPECT_EQ(head.get_future().get(), 200);
  exchange->send({http::Chunk::literal("one")});
  EXPECT_EQ(first.get_future().get(), "one");
  exchange->send({http::Chunk::literal("two")});
  EXPECT_EQ(second.get_future().get(), "two");
  exchange->finish();
  EXPECT_TRUE(ended.get_future().get().has_value());
}

TEST(HttpClient, AStreamThatIsCutEndsWithAnError) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    exchange->start_stream(text_response("half of it"));
    exchange->abort();
  });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/")}).error().code, Code::kUnavailable);
}

TEST(HttpClient, CancellingTellsTheServer) {
  std::promise<void> started, gone;
  const auto server = serve([&](std::shared_ptr<http::Exchange> exchange) {
    exchange->start_stream(text_response("x"));
    exchange->on_close([&, exchange] { gone.set_value(); });
  });
  const auto client = make_client();
  const RequestId watch = client->send({.url = url_of(*server, "/"), .timeout = {}},
                                       {.on_data = [&](std::string_view) { started.set_value(); },
                                        .on_end = [](Status) { ADD_FAILURE() << "cancelled"; }});
  started.get_future().wait();
  client->cancel(watch);
  gone.get_future().wait();
}

TEST(HttpClient, ShowsItsCertificate) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    const http::Peer& peer = exchange->request().peer;
    exchange->respond(text_response(fmt::format("{} {} {}", peer.common_name,
                                                fmt::join(peer.organizations, "+"), peer.address)));
  });
  auto options = trusting();
  options.certificate_pem = test_pki().alice.certificate_pem;
  options.private_key_pem = test_pki().alice.private_key_pem;
  const auto client = make_client(std::move(options));
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/")}).value().body,
            "alice admins+dev 127.0.0.1");
}

TEST(HttpClient, TrustsOnlyItsAuthorityAndOnlyTheRightName) {
  const auto server = serve(echo);
  const KeyPair stranger = make_authority({"stranger", {}}, kAlways).value();
  const auto wary = make_client({.ca_pem = stranger.certificate_pem});
  const auto refused = fetch(*wary, {.url = url_of(*server, "/")});
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("certificate verify failed"));

  auto options = trusting();
  options.tls_server_name = "other.example";
  const auto strict = make_client(std::move(options));
  EXPECT_THAT(fetch(*strict, {.url = url_of(*server, "/")}).error().message, HasSubstr("mismatch"));

  const auto careless = make_client({.ca_pem = stranger.certificate_pem, .verify_server = false});
  EXPECT_TRUE(fetch(*careless, {.url = url_of(*server, "/")}).has_value());
}

TEST(HttpClient, NamesAreLookedUp) {
  const auto server = serve(echo);
  const auto client = make_client();
  const auto reply = fetch(*client, {.url = fmt::format("https://localhost:{}/", server->port())});
  EXPECT_TRUE(reply.has_value()) << reply.error().message;
}

TEST(HttpClient, NobodyThere) {
  std::uint16_t port;
  {
    const UniqueFd closed = listen_on({"127.0.0.1", 0}).value();
    port = local_port(closed.get()).value();
  }
  const auto client = make_client();
  const auto reply = fetch(*client, {.url = fmt::format("https://127.0.0.1:{}/", port)});
  EXPECT_EQ(reply.error().code, Code::kUnavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("refused"));
}

TEST(HttpClient, ASilentServerTimesOut) {
  const auto server = serve([](std::shared_ptr<http::Exchange> exchange) {
    exchange->start_stream({});
    exchange->set_timer(std::chrono::hours(1), [exchange] {});
  });
  const auto client = make_client();
  const Duration kSoon = std::chrono::milliseconds(30);
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/"), .timeout = kSoon}).error().code,
            Code::kTimeout);
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/"), .silence = kSoon}).error().code,
            Code::kTimeout);
}

TEST(HttpClient, WhatCannotBeSentIsNotSent) {
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, {.url = "nonsense"}).error().code, Code::kBadRequest);
  EXPECT_EQ(fetch(*client, {.method = "GET /\r\n", .url = "https://127.0.0.1/"}).error().code,
            Code::kBadRequest);
  EXPECT_EQ(
      fetch(*client, {.url = "https://127.0.0.1/", .headers = {{"A", "b\r\nC: d"}}}).error().code,
      Code::kBadRequest);
}

TEST(HttpClient, AnAnswerThatIsTooLongIsCutOff) {
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    exchange->respond(text_response(std::string(100'000, 'x')));
  });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/"), .max_body = 99'999}).error().code,
            Code::kTooLarge);
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/"), .max_body = 100'000}).value().body.size(),
            100'000U);
}

TEST(HttpClient, AStaleConnectionIsTriedOnceMoreIfThatDoesNoHarm) {
  // The first connection answers once, then closes when the next request has come.
  const auto script = [](int connection, const auto& read, const auto& write) {
    read();
    write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (connection == 0) read();
  };
  {
    const ScriptedServer server(2, script);
    const auto client = make_client();
    EXPECT_EQ(fetch(*client, {.url = server.url()}).value().body, "ok");
    EXPECT_EQ(fetch(*client, {.url = server.url()}).value().body, "ok");
  }
  {
    const ScriptedServer server(1, script);
    const auto client = make_client();
    EXPECT_EQ(fetch(*client, {.url = server.url()}).value().body, "ok");
    EXPECT_EQ(fetch(*client, {.method = "POST", .url = server.url()}).error().code,
              Code::kUnavailable);
  }
}

TEST(HttpClient, AFreshConnectionThatIsLostIsNotTriedAgain) {
  const ScriptedServer server(1, [](int, const auto& read, const auto&) { read(); });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, {.url = server.url()}).error().code, Code::kUnavailable);
}

TEST(HttpClient, AnswersOfOtherServers) {
  const ScriptedServer server(4, [](int connection, const auto& read, const auto& write) {
    read();
    switch (connection) {
      case 0:
        return write("HTTP/1.0 200 OK\r\n\r\nuntil the end");
      case 1:
        return write(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
      case 2:
        return write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
      default:
        return write("SSH-2.0\r\n");
    }
  });
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, {.url = server.url()}).value().body, "until the end");
  EXPECT_EQ(fetch(*client, {.url = server.url()}).value().status, 204);
  EXPECT_EQ(fetch(*client, {.url = server.url()}).error().code, Code::kUnavailable);
  EXPECT_EQ(fetch(*client, {.url = server.url()}).error().code, Code::kInternal);
}

// Collects posted tasks; the test runs them.
class TaskQueue {
 public:
  std::function<void(Task)> post() {
    return [this](Task task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      came_.notify_all();
    };
  }
  void run_one() {
    Task task;
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [this] { return !tasks_.empty(); });
      task = std::move(tasks_.front());
      tasks_.erase(tasks_.begin());
    }
    task();
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Task> tasks_;
};

TEST(HttpClient, CallbacksRunWhereTheyArePostedTo) {
  const auto server = serve(echo);
  TaskQueue queue;
  auto options = trusting();
  options.post = queue.post();
  const auto client = make_client(std::move(options));
  std::thread::id where;
  bool done = false;
  client->fetch({.url = url_of(*server, "/")}, [&](Result<Reply> reply) {
    where = std::this_thread::get_id();
    done = reply.has_value();
  });
  queue.run_one();
  EXPECT_TRUE(done) << "an answer is posted as a whole: each post may wake a thread";
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(HttpClient, NothingIsCalledAfterCancelOnTheSameThread) {
  const auto server = serve(echo);
  TaskQueue queue;
  auto options = trusting();
  options.post = queue.post();
  const auto client = make_client(std::move(options));
  const RequestId id =
      client->send({.url = url_of(*server, "/")},
                   {.on_end = [](const Status&) { ADD_FAILURE() << "was cancelled"; }});
  queue.run_one();  // the head is there, data and end may be posted already
  client->cancel(id);
  client->stop();
  while (queue.size() > 0) queue.run_one();
}

TEST(HttpClient, ASlowReaderOfAStreamHoldsTheServerBack) {
  constexpr std::size_t kTotal = 64 * 1024 * 1024;
  const auto server = serve([](const std::shared_ptr<http::Exchange>& exchange) {
    exchange->respond(text_response(std::string(kTotal, 'x')));
  });
  TaskQueue queue;
  auto options = trusting();
  options.post = queue.post();
  const auto client = make_client(std::move(options));
  std::size_t received = 0;
  bool done = false;
  client->send({.url = url_of(*server, "/")},
               {.on_data = [&](std::string_view data) { received += data.size(); },
                .on_end = [&](Status status) { done = status.has_value(); }});
  queue.run_one();
  std::size_t most = 0;
  while (!done) {
    most = std::max(most, queue.size());
    queue.run_one();
  }
  EXPECT_EQ(received, kTotal);
  EXPECT_LT(most, 200U);  // pieces of up to 16 KiB: a bit more than 1 MiB, of 64
}

// For the thread sanitizer above all: every call of both sides, from many threads at once.
TEST(HttpClient, ManyThreadsAskStreamAndCancel) {
  const auto server = serve([](std::shared_ptr<http::Exchange> exchange) {
    if (exchange->request().target == "/plain") return echo(exchange);
    exchange->start_stream(text_response("first"));
    exchange->set_timer(Duration(100), [exchange] {
      exchange->send({http::Chunk::literal("second")});
      exchange->finish();
    });
  });
  const auto client = make_client();
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        client->send({.url = url_of(*server, "/plain")}, {.on_end = [&](Status) { ++ended; }});
        const RequestId watch = client->send({.url = url_of(*server, "/stream")}, {});
        if ((i + t) % 2 == 0) client->cancel(watch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  client->stop();
  EXPECT_EQ(ended, 100) << "whether answered or stopped, each is told once";
}

TEST(HttpClient, StoppingEndsWhatIsUnderWay) {
  const auto server = serve([](std::shared_ptr<http::Exchange> exchange) {
    exchange->set_timer(std::chrono::hours(1), [exchange] {});
  });
  const auto client = make_client();
  std::promise<Result<Reply>> promise;
  client->fetch({.url = url_of(*server, "/")},
                [&](Result<Reply> reply) { promise.set_value(std::move(reply)); });
  client->stop();
  EXPECT_EQ(promise.get_future().get().error().code, Code::kUnavailable);
  EXPECT_EQ(fetch(*client, {.url = url_of(*server, "/")}).error().code, Code::kUnavailable);
}

}  // namespace http_client_test
}  // namespace muster::net
