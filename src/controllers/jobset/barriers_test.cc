// How starting pods open a barrier, as a server sees it: what is asked of it, and how soon.
#include "controllers/jobset/barriers.h"

#include <gmock/gmock.h>

#include "controllers/jobset/controller.h"
#include "controllers/runtime/testing.h"

namespace muster::controllers::jobset {
namespace barriers_test {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSets = "/apis/jobset.x-k8s.io/v1alpha2/jobsets";
constexpr const char* kJobs = "/apis/batch/v1/jobs";
constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kConfigMaps = "/api/v1/configmaps";
constexpr const char* kStatus =
    "PATCH /apis/jobset.x-k8s.io/v1alpha2/namespaces/d/jobsets/js/status";
constexpr const char* kSignal = "PATCH /api/v1/namespaces/d/configmaps/js-group-scheduling";
constexpr const char* kEvent = "POST /apis/events.k8s.io/v1/namespaces/d/events";

constexpr std::string_view kAtBarrier =
    R"("phase":"Pending","initContainerStatuses":[{"name":"group-scheduling-init",
       "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}])";

std::string owned_by(std::string_view version, std::string_view kind, std::string_view name) {
  return fmt::format(
      R"("ownerReferences":[{{"apiVersion":"{}","kind":"{}","name":"{}","uid":"u-{}",
                              "controller":true}}])",
      version, kind, name, name);
}

std::string pod(std::string_view name, int revision, std::string_view status,
                std::string_view annotations =
                    R"("muster.dev/barrier":"js-group-scheduling/started-0",
                       "muster.dev/barrier-size":"3")") {
  return fmt::format(
      R"({{"metadata":{{"namespace":"d","name":"{}","uid":"u-{}","resourceVersion":"{}",{},
           "labels":{{"jobset.sigs.k8s.io/jobset-uid":"u-js","jobset.sigs.k8s.io/jobset-name":"js"}},
           "annotations":{{{}}}}},"status":{{{}}}}})",
      name, name, revision, owned_by("batch/v1", "Job", "js-w-0"), annotations, status);
}

// A set of one Job with three pods, at rest.
class BarrierController : public controllers::testing::ControllerTest<Controller> {
 protected:
  BarrierController() {
    informers_.start();
    server_.show(kSets, "ADDED",
                 R"({"metadata":{"namespace":"d","name":"js","uid":"u-js","resourceVersion":"2"},
                     "spec":{"groupSchedulingConfig":{},"replicatedJobs":[{"name":"w","replicas":1,
                       "template":{"spec":{"parallelism":3,"completions":3}}}]},
                     "status":{"restarts":0,"conditions":[{"type":"muster.dev/Waiting",
                       "status":"True","reason":"Barrier","message":"barrier: 0 of 3 started",
                       "lastTransitionTime":"2026-01-01T00:00:00Z"}],
                     "replicatedJobsStatus":[{"name":"w","ready":0,"succeeded":0,"failed":0,
                                              "active":0,"suspended":0}]}})");
    server_.show(kJobs, "ADDED",
                 fmt::format(
                     R"({{"metadata":{{"namespace":"d","name":"js-w-0","uid":"u-js-w-0",
                 "resourceVersion":"3",{},"labels":{{"jobset.sigs.k8s.io/replicatedjob-name":"w",
                 "jobset.sigs.k8s.io/restart-attempt":"0"}}}},"spec":{{"parallelism":3,
                 "completions":3,"template":{{"metadata":{{"annotations":{{
                 "muster.dev/barrier":"js-group-scheduling/started-0"}}}}}}}}}})",
                     owned_by("jobset.x-k8s.io/v1alpha2", "JobSet", "js")));
    server_.show(
        kConfigMaps, "ADDED",
        fmt::format(R"({{"metadata":{{"namespace":"d","name":"js-group-scheduling","uid":"u-cm",
                         "resourceVersion":"4",{}}}}})",
                    owned_by("jobset.x-k8s.io/v1alpha2", "JobSet", "js")));
    server_.complete_all(4);
  }
  void start(std::string_view name, int revision) {
    server_.show(kPods, "ADDED", pod(name, revision, kAtBarrier));
  }
};

TEST_F(BarrierController, TheLastPodOpensItAtOnce) {
  EXPECT_THAT(server_.waiting(), IsEmpty());
  start("a", 5);
  start("b", 6);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  start("c", 7);
  ASSERT_THAT(server_.waiting(), ElementsAre(kSignal));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr(R"("started-0":"3 of 3")"));
  server_.answer_object("js-group-scheduling", 8);
  EXPECT_THAT(server_.waiting(), ElementsAre(kEvent));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr("BarrierOpened"));
}

TEST_F(BarrierController, StartsAreToldTogether) {
  start("a", 5);
  start("b", 6);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(milliseconds(800));
  ASSERT_THAT(server_.waiting(), ElementsAre(kStatus));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr("barrier: 2 of 3 started"));
}

TEST_F(BarrierController, APodThatIsGoneNoLongerCounts) {
  start("a", 5);
  start("b", 6);
  server_.show(kPods, "DELETED", pod("a", 7, kAtBarrier));
  start("c", 8);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  start("d", 9);
  EXPECT_THAT(server_.waiting(), ElementsAre(kSignal));
}

TEST_F(BarrierController, OnlyPodsOfTheBarrierCount) {
  start("a", 5);
  start("b", 6);
  server_.show(kPods, "ADDED", pod("c", 7, R"("phase":"Running")", ""));
  server_.show(kPods, "ADDED", pod("d", 8, R"("phase":"Pending")"));
  server_.show(kPods, "ADDED",
               pod("e", 9, kAtBarrier, R"("muster.dev/barrier":"js-group-scheduling/started-1")"));
  server_.pass_time(milliseconds(2000));
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatus));
}

TEST(BarrierPods, AreHeldUntilTheyRun) {
  controllers::testing::FakeServer server;
  client::Informer informer(server.client, controllers::testing::resource("v1", "Pod"));
  int told = 0;
  const BarrierPods pods(informer, [&](const QueueKey&, bool) { ++told; });
  informer.start();
  for (const char* name : {"a", "b", "c"}) server.show(kPods, "ADDED", pod(name, 2, kAtBarrier));
  EXPECT_EQ(pods.of({"d", "u-js"})->held.at({0, "js-w-0"}), 3);
  server.show(kPods, "MODIFIED", pod("a", 3, R"("phase":"Running")"));
  EXPECT_EQ(told, 4);
  server.show(kPods, "DELETED", pod("b", 4, kAtBarrier));
  EXPECT_EQ(pods.of({"d", "u-js"})->held.at({0, "js-w-0"}), 1);
  server.show(kPods, "MODIFIED", pod("c", 5, R"("phase":"Running")"));
  EXPECT_THAT(pods.of({"d", "u-js"})->held, IsEmpty());
  EXPECT_EQ(pods.of({"d", "u-js"})->pods.at({0, "js-w-0"}), 2);
}

TEST(BarrierPods, KeepNothingOfPodsThatHaveNotStarted) {
  controllers::testing::FakeServer server;
  client::Informer informer(server.client, controllers::testing::resource("v1", "Pod"));
  std::vector<bool> told;
  const BarrierPods pods(informer, [&](const QueueKey& set, bool complete) {
    EXPECT_EQ(set.name, "js");
    told.push_back(complete);
  });
  informer.start();
  server.show(kPods, "ADDED", pod("a", 2, R"("phase":"Pending")"));
  EXPECT_EQ(pods.of({"d", "u-js"}), nullptr);
  server.show(kPods, "MODIFIED", pod("a", 3, kAtBarrier));
  server.show(kPods, "MODIFIED", pod("a", 4, R"("phase":"Running")"));
  ASSERT_NE(pods.of({"d", "u-js"}), nullptr);
  EXPECT_EQ(pods.of({"d", "u-js"})->pods.at({0, "js-w-0"}), 1) << "a pod counts once";
  std::string stranger = pod("b", 4, R"("phase":"Running")");
  stranger.replace(stranger.find(R"("d")"), 3, R"("e")");
  server.show(kPods, "ADDED", stranger);
  EXPECT_EQ(pods.of({"d", "u-js"})->pods.at({0, "js-w-0"}), 1) << "one of another namespace";
  server.show(kPods, "MODIFIED", pod("a", 5, R"("phase":"Failed")"));
  EXPECT_EQ(pods.of({"d", "u-js"}), nullptr);
  EXPECT_THAT(told, ElementsAre(false, false, false, false));
}

}  // namespace barriers_test
}  // namespace muster::controllers::jobset
