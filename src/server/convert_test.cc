#include "server/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace convert_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

TEST(Convert, AnEventIsTheSameObjectInBothGroups) {
  TestServer server;
  server.make_namespace("a");
  const TestExchangePtr made = server.admin(
      "POST", "/apis/events.k8s.io/v1/namespaces/a/events",
      R"({"metadata":{"name":"e"},"eventTime":"2027-01-15T08:00:00.000000Z","reportingController":"x.io/c","reportingInstance":"i",)"
      R"("action":"Test","reason":"Because","regarding":{"kind":"Pod","name":"p","namespace":"a"},"note":"hello","type":"Normal"})");
  ASSERT_EQ(made->status, 201) << made->body;
  const TestExchangePtr core = server.admin("GET", "/api/v1/namespaces/a/events/e");
  EXPECT_EQ(at(*core, {"apiVersion"}), "v1");
  EXPECT_EQ(at(*core, {"message"}), "hello");
  EXPECT_EQ(at(*core, {"involvedObject", "name"}), "p");
  EXPECT_EQ(at(*core, {"reportingComponent"}), "x.io/c");
  const TestExchangePtr back = server.admin(
      "GET", "/apis/events.k8s.io/v1/namespaces/a/events?fieldSelector=regarding.name%3Dp");
  json::Arena arena;
  EXPECT_EQ(back->json(arena).get("items").item(0).get("note").as_string(), "hello");
}

TEST(Convert, AnOldClusterQueueIsReadInItsOwnWords) {
  TestServer server;
  const std::string body =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"team",)"
      R"("namespaceSelector":{},"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"TryNextFlavor"}}})";
  const TestExchangePtr made =
      server.admin("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", body);
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"spec", "cohort"}), "team");
  const TestExchangePtr read = server.admin("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q");
  EXPECT_EQ(at(*read, {"apiVersion"}), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(at(*read, {"spec", "cohortName"}), "team");
  EXPECT_EQ(at(*read, {"spec", "flavorFungibility", "whenCanBorrow"}), "MayStopSearch");
  EXPECT_EQ(http::find_header(made->headers, "Warning"),
            R"(299 - "This version is deprecated. Use v1beta2 instead.")");
}

TEST(Convert, APriorityClassBecomesAReferenceAndComesBack) {
  json::Arena arena;
  const api::Resource& old =
      *api::Registry::builtin().find("kueue.x-k8s.io", "v1beta1", "workloads");
  const json::Value workload = *json::parse(
      arena,
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","spec":{"priorityClassName":"high",)"
      R"("priorityClassSource":"scheduling.k8s.io/priorityclass"}})");
  to_storage(workload, old);
  EXPECT_EQ(json::write(workload.get({"spec", "priorityClassRef"})),
            R"({"group":"scheduling.k8s.io","kind":"PriorityClass","name":"high"})");
  from_storage(workload, old);
  EXPECT_EQ(workload.get({"spec", "priorityClassName"}).as_string(), "high");
  EXPECT_EQ(workload.get({"spec", "priorityClassSource"}).as_string(),
            "scheduling.k8s.io/priorityclass");
  EXPECT_FALSE(workload.get("spec").has("priorityClassRef"));
}

TEST(Expiry, EventsLiveForAnHourAfterTheirLastChange) {
  TestServer server;
  server.make_namespace("a");
  const std::string events = "/api/v1/namespaces/a/events";
  const auto make = [&](const std::string& name, const std::string& last) {
    return server
        .admin("POST", events,
               R"({"metadata":{"name":")" + name +
                   R"(","namespace":"a"},"involvedObject":{"namespace":"a"},"lastTimestamp":")" +
                   last + R"("})")
        ->status;
  };
  ASSERT_EQ(make("old", "2027-01-15T08:00:00Z"), 201);
  ASSERT_EQ(make("repeated", "2027-01-15T08:50:00Z"), 201);
  server.clock.advance(std::chrono::minutes(59));
  server.admin("GET", events);
  EXPECT_EQ(server.admin("GET", events + "/old")->status, 200);
  server.clock.advance(std::chrono::minutes(2));
  server.admin("GET", events);
  EXPECT_EQ(server.admin("GET", events + "/old")->status, 404);
  EXPECT_EQ(server.admin("GET", events + "/repeated")->status, 200);
}

}  // namespace convert_test
}  // namespace muster::server
