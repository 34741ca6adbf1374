// Clients that ask and do not read: what the server holds for them is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace unsent_test {

using testing::at;
using testing::TestExchange;
using testing::TestExchangePtr;
using testing::TestServer;

constexpr std::size_t kMebibyte = 1u << 20;
constexpr std::string_view kAsTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

// Each answer to list() takes 0.6 MiB of its own beside the 0.25 MiB that every one counts.
class Unsent : public ::testing::Test {
 protected:
  explicit Unsent(std::size_t in_flight = 100)
      : server({.max_requests_in_flight = in_flight,
                .max_unsent_bytes = 4 * kMebibyte,
                .max_user_unsent_bytes = 2 * kMebibyte}) {
    server.make_namespace("a");
    for (int i = 0; i < 6; ++i) create("c" + std::to_string(i), 100'000);
  }

  TestExchangePtr create(const std::string& name, std::size_t bytes, bool stuck = false) {
    return send("alice", "POST", "/api/v1/namespaces/a/configmaps",
                fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"k":"{}"}}}})", name,
                            std::string(bytes, 'x')),
                stuck);
  }
  TestExchangePtr list(const std::string& user, bool stuck = true) {
    return send(user, "GET", "/api/v1/namespaces/a/configmaps?includeObject=Object", "", stuck);
  }
  TestExchangePtr watch(const std::string& user, const std::string& more = "") {
    return send(user, "GET", "/api/v1/namespaces/a/configmaps?includeObject=Object&watch=1" + more,
                "", true);
  }
  TestExchangePtr send(const std::string& user, std::string method, std::string target,
                       std::string body, bool stuck) {
    http::Request request{.method = std::move(method), .target = std::move(target)};
    request.headers = {{"Accept", std::string(kAsTable)}, {"Content-Type", "application/json"}};
    request.body = std::move(body);
    request.peer = {.address = "127.0.0.1",
                    .common_name = user,
                    .organizations = {"system:masters"},
                    .certificate_sha256 = {}};
    auto exchange = std::make_shared<TestExchange>(std::move(request));
    exchange->stuck = stuck;
    exchanges.push_back(exchange);
    server.api->handle(exchange);
    return exchange;
  }

  ~Unsent() override {
    for (const TestExchangePtr& exchange : exchanges) exchange->hang_up();
  }

  TestServer server;
  std::vector<TestExchangePtr> exchanges;
};

TEST_F(Unsent, AUserThatReadsNothingIsToldToComeBack) {
  const TestExchangePtr first = list("mallory"), second = list("mallory");
  EXPECT_EQ(second->status, 200);
  const TestExchangePtr third = list("mallory");
  EXPECT_EQ(third->status, 429);
  EXPECT_EQ(http::find_header(third->headers, "Retry-After"), "1");
  EXPECT_EQ(list("alice", false)->status, 200) << "others have a share of their own";
  EXPECT_EQ(send("mallory", "GET", "/api/v1/namespaces/a", "", true)->status, 200)
      << "small answers do not count";
  first->catch_up();
  EXPECT_EQ(list("mallory")->status, 200);
}

TEST_F(Unsent, AllUsersTogetherAreBounded) {
  for (const char* user : {"u0", "u1", "u2", "u3"}) EXPECT_EQ(list(user)->status, 200);
  EXPECT_EQ(list("u4")->status, 429);
}

TEST_F(Unsent, TheSlowestIsCutWhenItHasHadTime) {
  const TestExchangePtr slow = list("mallory"), later = list("mallory");
  server.clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(list("mallory")->status, 200);
  EXPECT_TRUE(slow->aborted);
  EXPECT_FALSE(later->aborted);
}

TEST_F(Unsent, AnAnswerThatIsTakenAtOnceTakesNoRoom) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(list("alice", false)->status, 200);
}

TEST_F(Unsent, AWriteIsAnsweredInAnyCase) {
  list("alice");
  list("alice");
  EXPECT_EQ(create("more", 300'000, true)->status, 201) << "it is done: 429 would say it is not";
}

TEST_F(Unsent, WhatLiesInTheStoreAnywayCountsLittle) {
  for (int i = 0; i < 7; ++i) {
    const TestExchangePtr plain = std::make_shared<TestExchange>(http::Request{
        .method = "GET",
        .target = "/api/v1/namespaces/a/configmaps",
        .headers = {},
        .body = {},
        .peer = {.address = "", .common_name = "bob", .organizations = {"system:masters"}}});
    plain->stuck = true;
    exchanges.push_back(plain);
    server.api->handle(plain);
    EXPECT_EQ(plain->status, 200) << i;
  }
}

class FewInFlight : public Unsent {
 protected:
  FewInFlight() : Unsent(1) {}
};

TEST_F(FewInFlight, AnAnswerThatIsNotTakenIsInFlight) {
  const TestExchangePtr stalled = list("mallory");
  EXPECT_EQ(stalled->status, 200);
  EXPECT_EQ(list("alice")->status, 429);
  stalled->catch_up();
  EXPECT_EQ(list("alice", false)->status, 200);
}

TEST_F(FewInFlight, AStalledAnswerIsCutForOtherRequestsWhenItHasHadTime) {
  const TestExchangePtr stalled = list("mallory");
  server.clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(list("alice")->status, 429) << "it is cut now";
  EXPECT_TRUE(stalled->aborted);
  EXPECT_EQ(list("alice")->status, 200);
}

TEST_F(Unsent, WatchesThatReadNothingShareWhatTheirUserMayHold) {
  std::vector<TestExchangePtr> watches;
  std::size_t held = 0;
  for (int i = 0; i < 40; ++i) {
    watches.push_back(watch("mallory"));
    EXPECT_EQ(watches.back()->status, 200);
    held += watches.back()->unsent;
  }
  // Beyond the share each has what every watch may have: one batch, which one large event fills.
  EXPECT_LE(held, 2 * kMebibyte + 40 * (64 * 1024 + 2 * 101'000));
  const std::string before = watches.back()->body;
  for (const TestExchangePtr& watch : watches) watch->catch_up();
  for (int i = 0; i < 10; ++i) {
    watches.back()->fire();
    watches.back()->catch_up();
  }
  EXPECT_EQ(watches.back()->lines().size(), 6U) << "what it waited for comes when it reads";
}

TEST_F(Unsent, AWatchThatHasReadAllHoldsNothing) {
  const TestExchangePtr reader = watch("alice");
  EXPECT_EQ(reader->lines().size(), 6U);
  EXPECT_EQ(list("alice")->status, 200);
  EXPECT_EQ(list("alice")->status, 429) << "the watch holds its part of the share";
  reader->catch_up();
  EXPECT_TRUE(reader->fire());
  EXPECT_EQ(list("alice")->status, 200);
}

}  // namespace unsent_test
}  // namespace muster::server
