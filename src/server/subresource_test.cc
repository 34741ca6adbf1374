// binding, eviction, scale, log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace subresource_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

class Subresource : public ::testing::Test {
 protected:
  Subresource() { server.make_namespace("a"); }
  void make_pod(const std::string& name, const std::string& more = "") {
    const TestExchangePtr made =
        server.admin("POST", kPods,
                     R"({"metadata":{"name":")" + name + R"(","labels":{"app":"x"}},"spec":{)" +
                         more + R"("containers":[{"name":"c","image":"i"}]}})");
    ASSERT_EQ(made->status, 201) << made->body;
  }
  TestExchangePtr bind(const std::string& pod, const std::string& node) {
    return server.admin("POST", kPods + "/" + pod + "/binding",
                        R"({"metadata":{"name":")" + pod +
                            R"("},"target":{"kind":"Node","name":")" + node + R"("}})");
  }
  const std::string kPods = "/api/v1/namespaces/a/pods";
  TestServer server;
};

TEST_F(Subresource, ABindingGivesThePodItsNodeOnce) {
  make_pod("p");
  EXPECT_EQ(bind("p", "n1")->status, 201);
  const TestExchangePtr pod = server.admin("GET", kPods + "/p");
  EXPECT_EQ(at(*pod, {"spec", "nodeName"}), "n1");
  EXPECT_NE(pod->body.find(R"("type":"PodScheduled","status":"True")"), std::string::npos)
      << pod->body;
  EXPECT_EQ(
      at(*bind("p", "n2"), {"message"}),
      R"(Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1")");
  EXPECT_EQ(bind("absent", "n1")->status, 404);
}

TEST_F(Subresource, AGatedPodIsNotBound) {
  make_pod("p", R"("schedulingGates":[{"name":"x.io/wait"}],)");
  EXPECT_EQ(bind("p", "n1")->status, 409);
}

TEST_F(Subresource, TheOldFormOfABindingWorksToo) {
  make_pod("p");
  EXPECT_EQ(server
                .admin("POST", "/api/v1/namespaces/a/bindings",
                       R"({"metadata":{"name":"p"},"target":{"name":"n"}})")
                ->status,
            201);
  EXPECT_EQ(at(*server.admin("GET", kPods + "/p"), {"spec", "nodeName"}), "n");
}

class Eviction : public Subresource {
 protected:
  Eviction() {
    make_pod("p", R"("nodeName":"n",)");
    server.patch(
        kPods + "/p/status",
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void budget(const std::string& status) {
    server.admin(
        "POST", kBudgets,
        R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})");
    server.patch(kBudgets + "/b/status", R"({"status":)" + status + "}");
  }
  TestExchangePtr evict(const std::string& query = "") {
    return server.admin("POST", kPods + "/p/eviction" + query,
                        R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})");
  }
  const std::string kBudgets = "/apis/policy/v1/namespaces/a/poddisruptionbudgets";
};

TEST_F(Eviction, WithoutABudgetIsADeleteThatSaysWhy) {
  EXPECT_EQ(evict()->status, 201);
  const TestExchangePtr pod = server.admin("GET", kPods + "/p");
  EXPECT_NE(at(*pod, {"metadata", "deletionTimestamp"}), "null");
  EXPECT_NE(pod->body.find(R"("type":"DisruptionTarget","status":"True")"), std::string::npos);
}

TEST_F(Eviction, WaitsForABudgetThatNobodyHasLookedAt) {
  budget("{}");
  const TestExchangePtr refused = evict();
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(http::find_header(refused->headers, "Retry-After"), "10");
}

TEST_F(Eviction, IsRefusedWhenTheBudgetIsUsedUp) {
  budget(
      R"({"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1})");
  EXPECT_EQ(evict()->status, 429);
  EXPECT_EQ(at(*server.admin("GET", kPods + "/p"), {"metadata", "deletionTimestamp"}), "null");
}

TEST_F(Eviction, TakesOneFromTheBudget) {
  budget(
      R"({"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2})");
  EXPECT_EQ(evict("?dryRun=All")->status, 201);
  EXPECT_EQ(at(*server.admin("GET", kBudgets + "/b"), {"status", "disruptionsAllowed"}), "1");
  EXPECT_EQ(evict()->status, 201);
  const TestExchangePtr left = server.admin("GET", kBudgets + "/b");
  EXPECT_EQ(at(*left, {"status", "disruptionsAllowed"}), "0");
  EXPECT_NE(at(*left, {"status", "disruptedPods", "p"}), "null");
}

TEST_F(Subresource, ScaleIsAViewOfTheReplicas) {
  const std::string deployments = "/apis/apps/v1/namespaces/a/deployments";
  const TestExchangePtr made = server.admin(
      "POST", deployments,
      R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_EQ(made->status, 201) << made->body;
  const TestExchangePtr scale = server.admin("GET", deployments + "/d/scale");
  EXPECT_EQ(at(*scale, {"spec", "replicas"}), "2");
  EXPECT_EQ(at(*scale, {"status", "selector"}), "a=b");
  EXPECT_EQ(at(*server.patch(deployments + "/d/scale", R"({"spec":{"replicas":5}})"),
               {"spec", "replicas"}),
            "5");
  EXPECT_EQ(at(*server.admin("GET", deployments + "/d"), {"spec", "replicas"}), "5");
  EXPECT_EQ(server.patch(deployments + "/d/scale", R"({"spec":{"replicas":-1}})")->status, 422);
  EXPECT_EQ(server.admin("GET", deployments + "/none/scale")->status, 404);
}

class FakeLogs final : public LogSource {
 public:
  void serve(Wanted wanted, std::shared_ptr<http::Exchange> exchange) override {
    asked = wanted;
    exchange->respond({.status = 200, .headers = {}, .body = {http::Chunk::literal("hello\n")}});
  }
  Wanted asked;
};

TEST_F(Subresource, LogsComeFromTheAgent) {
  FakeLogs logs;
  Options options;
  options.logs = &logs;
  TestServer with_logs(std::move(options));
  with_logs.make_namespace("a");
  with_logs.admin(
      "POST", kPods,
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]}})");
  const std::string log = kPods + "/p/log?container=d";
  EXPECT_EQ(at(*with_logs.admin("GET", log), {"message"}),
            R"(container "d" in pod "p" is not available)");
  with_logs.patch(
      kPods + "/p/status",
      R"({"status":{"containerStatuses":[{"name":"d","restartCount":3,"containerID":"x://3","ready":true,"image":"","imageID":"","state":{"running":{}}}]}})");
  const TestExchangePtr text = with_logs.admin("GET", log + "&tailLines=5&follow=true");
  EXPECT_EQ(text->body, "hello\n");
  EXPECT_EQ(logs.asked.container, "d");
  EXPECT_EQ(logs.asked.run, 3);
  EXPECT_EQ(logs.asked.container_id, "x://3");
  EXPECT_EQ(logs.asked.tail_lines, 5);
  EXPECT_TRUE(logs.asked.follow);
  EXPECT_EQ(at(*with_logs.admin("GET", kPods + "/p/log"), {"message"}),
            "a container name must be specified for pod p, choose one of: [c d]");
  EXPECT_EQ(with_logs.admin("GET", log + "&tailLines=-1")->status, 422);
}

TEST_F(Subresource, APodWithoutANodeHasNoLogAndNoChannel) {
  make_pod("p");
  EXPECT_EQ(server.admin("GET", kPods + "/p/log")->status, 204);
  EXPECT_EQ(server.admin("GET", kPods + "/p/exec?command=ls")->status, 400);
}

}  // namespace subresource_test
}  // namespace muster::server
