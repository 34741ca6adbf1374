// Several writes in one transaction: all of them or none, and the answer says which one was
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "server/testing.h"

namespace muster::server {
namespace write_list_test {

using namespace muster::server::testing;  // NOLINT: verbs of the tests
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

const std::string kPodsOfA = "/api/v1/namespaces/a/pods";

struct Sent {
  std::string method;
  std::string target;
  std::string body;
};

std::string pod_name(std::size_t number) { return fmt::format("p{}", number); }

Sent creation(const std::string& pod) {
  return {"POST", kPodsOfA,
          fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[)"
                      R"({{"name":"c","image":"i"}}]}}}})",
                      pod)};
}

Sent binding_of(const std::string& pod, const std::string& node = "n1") {
  return {"POST", fmt::format("{}/{}/binding", kPodsOfA, pod),
          fmt::format(R"({{"target":{{"kind":"Node","name":"{}"}}}})", node)};
}

class WriteListTest : public ::testing::Test {
 protected:
  WriteListTest() { server.make_namespace("a"); }

  std::vector<TestExchangePtr> together(const std::vector<Sent>& list,
                                        const User& user = master("scheduler")) {
    std::vector<TestExchangePtr> sent;
    for (const Sent& each : list) {
      sent.push_back(std::make_shared<TestExchange>(
          http::Request{each.method,
                        each.target,
                        {{"Content-Type", each.method == "PATCH" ? "application/merge-patch+json"
                                                                 : "application/json"}},
                        each.body,
                        {}}));
    }
    server.api->handle_together({sent.begin(), sent.end()}, user);
    return sent;
  }
  void create_pods(std::size_t count) {
    std::vector<Sent> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(creation(pod_name(i)));
    ASSERT_THAT(statuses(together(list)), Each(201));
  }
  static std::vector<int> statuses(const std::vector<TestExchangePtr>& sent) {
    std::vector<int> out;
    for (const TestExchangePtr& each : sent) out.push_back(each->status);
    return out;
  }
  static std::string message(const TestExchange& exchange) { return at(exchange, {"message"}); }
  std::string node_of(const std::string& pod) {
    return at(*server.admin("GET", kPodsOfA + "/" + pod), {"spec", "nodeName"});
  }
  void expect_unbound(std::initializer_list<std::size_t> pods) {
    for (const std::size_t pod : pods) EXPECT_EQ(node_of(pod_name(pod)), "null") << pod;
  }

  TestServer server;
};

TEST_F(WriteListTest, AGangOf4096PodsIsCreatedAndBoundInTwoTransactions) {
  constexpr std::size_t kGang = 4'096;
  create_pods(kGang);
  const store::Revision before = server.store->snapshot()->revision();
  std::vector<Sent> list;
  for (std::size_t i = 0; i < kGang; ++i)
    list.push_back(binding_of(pod_name(i), fmt::format("n{}", i % 7)));
  const auto bound = together(list);
  EXPECT_THAT(statuses(bound), Each(201));
  EXPECT_EQ(server.store->snapshot()->revision(), before + kGang);
  EXPECT_EQ(node_of("p0"), "n0");
  EXPECT_EQ(node_of("p4095"), "n0");
  EXPECT_EQ(node_of("p4090"), "n2");
  // Both groups, and no other one, had more than 1,024 writes.
  const std::string metrics = server.metrics.text();
  const auto count_of = [&](const std::string& series) {
    const std::size_t found = metrics.find(series);
    return found == std::string::npos ? -1 : std::stoi(metrics.substr(found + series.size()));
  };
  const int all = count_of("muster_store_group_writes_count ");
  EXPECT_EQ(count_of(R"(muster_store_group_writes_bucket{le="1024"} )"), all - 2) << metrics;
  EXPECT_EQ(count_of(R"(muster_store_group_writes_bucket{le="4096"} )"), all);
}

TEST_F(WriteListTest, APodThatHasANodeKeepsAllOthersFromTheirs) {
  create_pods(5);
  ASSERT_EQ(server.admin("POST", binding_of("p3").target, binding_of("p3", "taken").body)->status,
            201);
  const store::Revision before = server.store->snapshot()->revision();
  const auto refused = together(
      {binding_of("p0"), binding_of("p1"), binding_of("p2"), binding_of("p3"), binding_of("p4")});
  EXPECT_THAT(statuses(refused), Each(409));
  EXPECT_EQ(message(*refused[3]),
            R"(Operation cannot be fulfilled on pods/binding "p3": pod p3 is already assigned to )"
            R"(node "taken")");
  for (const std::size_t other : {0u, 1u, 2u, 4u}) {
    EXPECT_EQ(message(*refused[other]),
              "nothing was written, because request 4 of 5 was refused: " + message(*refused[3]));
    EXPECT_EQ(at(*refused[other], {"details", "name"}), "p3");
  }
  expect_unbound({0, 1, 2, 4});
  EXPECT_EQ(node_of("p3"), "taken");
  EXPECT_EQ(server.store->snapshot()->revision(), before);
}

TEST_F(WriteListTest, APodThatIsGoneKeepsAllOthersFromTheirNodes) {
  create_pods(2);
  const auto refused = together({binding_of("p0"), binding_of("gone"), binding_of("p1")});
  EXPECT_EQ(refused[1]->status, 404);
  EXPECT_EQ(message(*refused[1]), R"(pods "gone" not found)");
  EXPECT_EQ(refused[0]->status, 409);
  EXPECT_THAT(message(*refused[2]), HasSubstr(R"(request 2 of 3 was refused: pods "gone")"));
  expect_unbound({0, 1});
}

// The list is planned while a change of one of its pods waits for the commit thread.
TEST_F(WriteListTest, AListThatWasOvertakenIsPlannedAgain) {
  create_pods(3);
  std::vector<TestExchangePtr> bound;
  TestExchangePtr labelled;
  server.store->submit(store::Write{.op = store::Write::Op::kDelete,
                                    .key = {0, "a", "no-such-object"},
                                    .expected = 1,
                                    .head = "",
                                    .tail = ""},
                       [&](const Result<store::ObjectPtr>&) {
                         labelled =
                             server.patch(kPodsOfA + "/p1", R"({"metadata":{"labels":{"k":"v"}}})");
                         bound = together({binding_of("p0"), binding_of("p1"), binding_of("p2")});
                         EXPECT_EQ(bound[0]->status, 0) << "it waits";
                       });
  EXPECT_EQ(labelled->status, 200);
  EXPECT_THAT(statuses(bound), Each(201));
  const auto pod = server.admin("GET", kPodsOfA + "/p1");
  EXPECT_EQ(at(*pod, {"metadata", "labels", "k"}), "v");
  EXPECT_EQ(at(*pod, {"spec", "nodeName"}), "n1");
}

TEST_F(WriteListTest, AListThatLostAPodWhileItWaitedIsRefused) {
  create_pods(3);
  std::vector<TestExchangePtr> refused;
  TestExchangePtr faster;
  server.store->submit(store::Write{.op = store::Write::Op::kDelete,
                                    .key = {0, "a", "no-such-object"},
                                    .expected = 1,
                                    .head = "",
                                    .tail = ""},
                       [&](const Result<store::ObjectPtr>&) {
                         faster = server.admin("POST", binding_of("p1").target,
                                               binding_of("p1", "taken").body);
                         refused = together({binding_of("p0"), binding_of("p1"), binding_of("p2")});
                       });
  EXPECT_THAT(statuses(refused), Each(409));
  EXPECT_THAT(message(*refused[1]), HasSubstr(R"(already assigned to node "taken")"));
  expect_unbound({0, 2});
  EXPECT_EQ(node_of("p1"), "taken");
}

TEST_F(WriteListTest, AllKindsOfWritesGoTogether) {
  create_pods(2);
  const std::string config_maps = "/api/v1/namespaces/a/configmaps";
  ASSERT_EQ(server.admin("POST", config_maps, R"({"metadata":{"name":"m"}})")->status, 201);
  const auto done = together({binding_of("p0"),
                              {"PATCH", kPodsOfA + "/p1", R"({"metadata":{"labels":{"k":"v"}}})"},
                              {"DELETE", config_maps + "/m", ""},
                              creation("p3")});
  EXPECT_EQ(done[0]->status, 201);
  EXPECT_EQ(done[1]->status, 200);
  EXPECT_EQ(at(*done[1], {"metadata", "labels", "k"}), "v");
  EXPECT_EQ(done[2]->status, 200);
  EXPECT_EQ(done[3]->status, 201);
  EXPECT_EQ(at(*done[3], {"metadata", "name"}), "p3");
  EXPECT_EQ(server.admin("GET", config_maps + "/m")->status, 404);
  EXPECT_EQ(node_of("p0"), "n1");
}

struct RefusedRequest {
  const char* what;
  Sent sent;
  int status;
};

TEST_F(WriteListTest, WhateverRefusesOneRequestRefusesAll) {
  create_pods(2);
  const std::vector<RefusedRequest> cases = {
      {"a read", {"GET", kPodsOfA + "/p1", ""}, 400},
      {"many objects at once", {"DELETE", kPodsOfA, ""}, 400},
      {"no resource", {"POST", "/healthz", ""}, 400},
      {"no such path", {"POST", "/api/v1/namespaces/a/nothing", "{}"}, 404},
      {"a body that is none", {"POST", kPodsOfA, "{"}, 400},
      {"an invalid object", {"POST", kPodsOfA, R"({"metadata":{"name":"x"}})"}, 422},
      {"one that takes two steps", {"DELETE", kPodsOfA + "/p1", ""}, 400},
      {"the same object twice", binding_of("p0", "n2"), 400},
  };
  for (const RefusedRequest& each : cases) {
    SCOPED_TRACE(each.what);
    const auto refused = together({binding_of("p0"), each.sent, binding_of("p1")});
    EXPECT_EQ(refused[1]->status, each.status) << refused[1]->body;
    EXPECT_EQ(refused[0]->status, 409);
    EXPECT_EQ(refused[2]->status, 409);
    EXPECT_THAT(message(*refused[2]), HasSubstr("request 2 of 3 was refused: "));
    expect_unbound({0, 1});
  }
}

TEST_F(WriteListTest, AUserWhoMayNotBindGetsNothingDone) {
  create_pods(2);
  User stranger;
  stranger.name = "stranger";
  const auto refused = together({binding_of("p0"), binding_of("p1")}, stranger);
  EXPECT_EQ(refused[0]->status, 403);
  EXPECT_THAT(message(*refused[1]), AllOf(HasSubstr("request 1 of 2"), HasSubstr("/p0/binding")));
  expect_unbound({0, 1});
}

TEST_F(WriteListTest, AllAreToldWhenTheStoreTakesNoMore) {
  create_pods(2);
  server.store->stop();
  EXPECT_THAT(statuses(together({binding_of("p0"), binding_of("p1")})), Each(503));
}

TEST_F(WriteListTest, AListCountsAsOneRequestInFlight) {
  Options options;
  options.max_requests_in_flight = 1;
  TestServer small(options);
  small.make_namespace("a");
  std::vector<std::shared_ptr<http::Exchange>> sent;
  for (std::size_t i = 0; i < 5; ++i) {
    sent.push_back(std::make_shared<TestExchange>(http::Request{
        "POST", kPodsOfA, {{"Content-Type", "application/json"}}, creation(pod_name(i)).body, {}}));
  }
  small.api->handle_together(sent, master("scheduler"));
  for (const auto& each : sent)
    EXPECT_EQ(std::static_pointer_cast<TestExchange>(each)->status, 201);
}

TEST_F(WriteListTest, AnEmptyListIsNothing) { EXPECT_TRUE(together({}).empty()); }

}  // namespace write_list_test
}  // namespace muster::server
