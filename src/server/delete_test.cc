// Deleting: grace, finalizers, propagation, preconditions, collections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "server/testing.h"

namespace muster::server {
namespace delete_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

class Delete : public ::testing::Test {
 protected:
  Delete() { server.make_namespace("a"); }

  TestExchangePtr make_map(const std::string& metadata) {
    return server.admin("POST", kMaps, R"({"metadata":)" + metadata + "}");
  }
  TestExchangePtr make_pod(const std::string& name, const std::string& node) {
    return server.admin("POST", kPods,
                        R"({"metadata":{"name":")" + name + R"("},"spec":{"nodeName":")" + node +
                            R"(","containers":[{"name":"c","image":"i"}]}})");
  }
  TestExchangePtr remove(const std::string& target, const std::string& options = "") {
    return server.admin("DELETE", target, options);
  }
  int status_of(const std::string& target) { return server.admin("GET", target)->status; }

  const std::string kMaps = "/api/v1/namespaces/a/configmaps";
  const std::string kPods = "/api/v1/namespaces/a/pods";
  const std::string kJobs = "/apis/batch/v1/namespaces/a/jobs";
  TestServer server;
};

TEST_F(Delete, MostKindsAnswerWithAStatus) {
  make_map(R"({"name":"c"})");
  const TestExchangePtr gone = remove(kMaps + "/c");
  EXPECT_EQ(at(*gone, {"status"}), "Success");
  EXPECT_EQ(at(*gone, {"details", "kind"}), "configmaps");
  EXPECT_EQ(at(*gone, {"code"}), "null");
  EXPECT_EQ(remove(kMaps + "/c")->status, 404);
}

TEST_F(Delete, ABodyThatIsNoDeleteOptionsDeletesNothing) {
  make_map(R"({"name":"c"})");
  for (const char* const body : {"[]", "5", R"({"apiVersion":"v1","kind":"ConfigMap"})"}) {
    EXPECT_EQ(remove(kMaps + "/c", body)->status, 400) << body;
  }
  EXPECT_EQ(status_of(kMaps + "/c"), 200);
  EXPECT_EQ(remove(kMaps + "/c", "null")->status, 200);
}

TEST_F(Delete, AGracePeriodMayBeAsLongAsANumberCanSay) {
  make_pod("p", "n");
  const TestExchangePtr marked =
      remove(kPods + "/p", R"({"gracePeriodSeconds":9223372036854775807})");
  EXPECT_EQ(at(*marked, {"metadata", "deletionGracePeriodSeconds"}), "9223372036854775807");
  EXPECT_EQ(at(*marked, {"metadata", "deletionTimestamp"}), "3026-05-18T08:00:00Z");
  EXPECT_EQ(
      at(*remove(kPods + "/p", R"({"gracePeriodSeconds":60})"), {"metadata", "deletionTimestamp"}),
      "2027-01-15T08:01:00Z");
}

TEST_F(Delete, AFinalizerHoldsTheObjectUntilItIsTaken) {
  make_map(R"({"name":"c","finalizers":["x.io/hold"]})");
  const TestExchangePtr marked = remove(kMaps + "/c");
  EXPECT_EQ(at(*marked, {"metadata", "deletionTimestamp"}), "2027-01-15T08:00:00Z");
  EXPECT_EQ(at(*marked, {"metadata", "deletionGracePeriodSeconds"}), "0");
  EXPECT_EQ(server.patch(kMaps + "/c", R"({"metadata":{"finalizers":["x.io/hold","x.io/more"]}})")
                ->status,
            422);
  EXPECT_EQ(server.patch(kMaps + "/c", R"({"metadata":{"finalizers":null}})")->status, 200);
  EXPECT_EQ(status_of(kMaps + "/c"), 404);
}

TEST_F(Delete, PreconditionsMustHold) {
  const TestExchangePtr made = make_map(R"({"name":"c"})");
  EXPECT_EQ(remove(kMaps + "/c", R"({"preconditions":{"uid":"other"}})")->status, 409);
  EXPECT_EQ(remove(kMaps + "/c", R"({"preconditions":{"resourceVersion":"1"}})")->status, 409);
  EXPECT_EQ(remove(kMaps + "/c",
                   R"({"preconditions":{"uid":")" + at(*made, {"metadata", "uid"}) + R"("}})")
                ->status,
            200);
}

TEST_F(Delete, PropagationIsLeftToTheGarbageCollectorAsAFinalizer) {
  const auto job = [&](const std::string& name) {
    server.admin(
        "POST", kJobs,
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  };
  job("default");
  const TestExchangePtr orphaned = remove(kJobs + "/default");
  EXPECT_EQ(at(*orphaned, {"metadata", "finalizers"}), R"(["orphan"])");
  EXPECT_EQ(at(*orphaned, {"metadata", "generation"}), "2");
  EXPECT_NE(
      http::find_header(orphaned->headers, "Warning").find("child pods are preserved by default"),
      std::string::npos);

  job("foreground");
  EXPECT_EQ(at(*remove(kJobs + "/foreground", R"({"propagationPolicy":"Foreground"})"),
               {"metadata", "finalizers"}),
            R"(["foregroundDeletion"])");
  job("background");
  const TestExchangePtr gone = remove(kJobs + "/background?propagationPolicy=Background");
  EXPECT_EQ(at(*gone, {"status"}), "Success");
  EXPECT_EQ(http::find_header(gone->headers, "Warning"), "");
  EXPECT_EQ(remove(kJobs + "/x?propagationPolicy=Bogus")->status, 422);
}

TEST_F(Delete, AnUnscheduledPodGoesAtOnceAndWatchersSeeBothSteps) {
  make_pod("p", "");
  const TestExchangePtr stream =
      server.admin("GET", kPods + "?watch=true&resourceVersion=" +
                              std::to_string(server.store->snapshot()->revision()));
  const TestExchangePtr gone = remove(kPods + "/p");
  EXPECT_EQ(at(*gone, {"kind"}), "Pod");
  EXPECT_EQ(at(*gone, {"metadata", "resourceVersion"}),
            std::to_string(server.store->snapshot()->revision()));
  ASSERT_EQ(stream->lines().size(), 2u);
  EXPECT_TRUE(stream->lines()[0].starts_with(R"({"type":"MODIFIED")"));
  EXPECT_TRUE(stream->lines()[1].starts_with(R"({"type":"DELETED")"));
}

TEST_F(Delete, AScheduledPodHasItsTimeOfGraceWhichCanOnlyBeShortened) {
  make_pod("p", "n");
  EXPECT_EQ(at(*remove(kPods + "/p"), {"metadata", "deletionTimestamp"}), "2027-01-15T08:00:30Z");
  const std::string version =
      at(*server.admin("GET", kPods + "/p"), {"metadata", "resourceVersion"});
  const TestExchangePtr longer = remove(kPods + "/p?gracePeriodSeconds=60");
  EXPECT_EQ(at(*longer, {"metadata", "deletionGracePeriodSeconds"}), "30");
  EXPECT_EQ(at(*longer, {"metadata", "resourceVersion"}), version);
  const TestExchangePtr shorter = remove(kPods + "/p?gracePeriodSeconds=5");
  EXPECT_EQ(at(*shorter, {"metadata", "deletionTimestamp"}), "2027-01-15T08:00:05Z");
  EXPECT_EQ(at(*shorter, {"metadata", "generation"}), "2");
  EXPECT_EQ(remove(kPods + "/p?gracePeriodSeconds=0")->status, 200);
  EXPECT_EQ(status_of(kPods + "/p"), 404);
}

TEST_F(Delete, AnEndedPodGetsNoGrace) {
  make_pod("p", "n");
  server.patch(kPods + "/p/status", R"({"status":{"phase":"Succeeded"}})");
  EXPECT_EQ(remove(kPods + "/p")->status, 200);
  EXPECT_EQ(status_of(kPods + "/p"), 404);
}

TEST_F(Delete, ANamespaceTerminatesAndGoesWhenFinalized) {
  const TestExchangePtr marked = remove("/api/v1/namespaces/a");
  EXPECT_EQ(at(*marked, {"status", "phase"}), "Terminating");
  EXPECT_EQ(at(*marked, {"metadata", "deletionGracePeriodSeconds"}), "null");
  EXPECT_EQ(at(*remove("/api/v1/namespaces/a"), {"metadata", "resourceVersion"}),
            at(*marked, {"metadata", "resourceVersion"}));
  EXPECT_EQ(make_map(R"({"name":"late"})")->status, 403);
  EXPECT_EQ(
      server
          .admin("PUT", "/api/v1/namespaces/a/finalize", R"({"metadata":{"name":"a"},"spec":{}})")
          ->status,
      200);
  EXPECT_EQ(status_of("/api/v1/namespaces/a"), 404);
}

TEST_F(Delete, TheSystemsNamespacesStay) {
  server.make_namespace("kube-system");
  EXPECT_EQ(remove("/api/v1/namespaces/kube-system")->status, 403);
}

TEST_F(Delete, ADryRunLeavesTheObject) {
  make_map(R"({"name":"c"})");
  EXPECT_EQ(at(*remove(kMaps + "/c?dryRun=All"), {"status"}), "Success");
  EXPECT_EQ(at(*remove(kMaps + "/c", R"({"dryRun":["All"]})"), {"status"}), "Success");
  EXPECT_EQ(status_of(kMaps + "/c"), 200);
}

TEST_F(Delete, ACollectionGoesAsFarAsItIsSelected) {
  for (int i = 0; i < 200; ++i) {
    make_map(fmt::format(R"({{"name":"c{}","labels":{{"even":"{}"}}}})", i, i % 2 == 0));
  }
  make_map(R"({"name":"held","labels":{"even":"true"},"finalizers":["x.io/hold"]})");
  const TestExchangePtr gone = remove(kMaps + "?labelSelector=even%3Dtrue");
  json::Arena arena;
  EXPECT_EQ(gone->json(arena).get("items").size(), 101u) << "as it was before";
  const TestExchangePtr left = server.admin("GET", kMaps);
  json::Arena other;
  EXPECT_EQ(left->json(other).get("items").size(), 101u)
      << "the odd ones, and the one that is held";
  EXPECT_EQ(remove("/api/v1/namespaces")->status, 405);
}

// Runs the work on a thread with a stack of one megabyte.
void on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1u << 20);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// Deletes that store nothing end at once; their number must not become the depth of the stack.
TEST_F(Delete, ADryRunOfALargeCollectionIsNoRecursion) {
  for (int i = 0; i < 4'000; ++i) make_map(fmt::format(R"({{"name":"c{}"}})", i));
  on_small_stack([&] { EXPECT_EQ(remove(kMaps + "?dryRun=All")->status, 200); });
  EXPECT_EQ(status_of(kMaps + "/c3999"), 200);
}

TEST_F(Delete, ProtobufOptionsAreRead) {
  make_map(R"({"name":"c"})");
  // k8s\0, Unknown{typeMeta{v1, DeleteOptions}, raw{dryRun: All}}
  const std::string body(
      "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
      "DeleteOptions\x12\x05\x2a\x03"
      "All",
      32);
  const TestExchangePtr dry = server.admin(
      "DELETE", kMaps + "/c", body, {{"Content-Type", "application/vnd.kubernetes.protobuf"}});
  EXPECT_EQ(dry->status, 200) << dry->body;
  EXPECT_EQ(status_of(kMaps + "/c"), 200);
}

}  // namespace delete_test
}  // namespace muster::server
