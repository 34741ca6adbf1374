// What the controller does while it has not heard of its own writes yet, and what it counts.
#include "controllers/job/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/world_testing.h"
#include "controllers/runtime/testing.h"

namespace muster::controllers::job {
namespace controller_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::World;

constexpr const char* kJobs = "/apis/batch/v1/jobs";
constexpr const char* kPods = "/api/v1/pods";

// The server's watches lag as the test wants.
class StaleCache : public controllers::testing::ControllerTest<Controller> {
 protected:
  StaleCache() {
    informers_.start();
    server_.settle();
  }
  std::string job(int revision, std::string_view spec = "", std::string_view status = "") {
    return fmt::format(
        R"({{"metadata":{{"namespace":"d","name":"j","uid":"u-j","resourceVersion":"{}"}},)"
        R"("spec":{{"parallelism":1,"backoffLimit":6,"selector":{{"matchLabels":{{"job":"j"}}}},)"
        R"("template":{{"spec":{{"containers":[]}}}}{}}},"status":{{{}}}}})",
        revision, spec, status);
  }
  std::string pod(int revision, std::string_view phase, bool tracked = true) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"d","name":"p","uid":"u-p","resourceVersion":"{}",)"
        R"("creationTimestamp":"2027-01-15T08:00:00Z",)"
        R"("labels":{{"job":"j"}},"finalizers":[{}],"ownerReferences":[{{"apiVersion":"batch/v1",)"
        R"("kind":"Job","name":"j","uid":"u-j","controller":true}}]}},"status":{{"phase":"{}"}}}})",
        revision, tracked ? R"("batch.kubernetes.io/job-tracking")" : "", phase);
  }
  // What the controller wants written, events aside.
  std::vector<std::string> wanted() {
    std::vector<std::string> out;
    for (const std::string& text : server_.waiting()) {
      if (text.find("/events") == std::string::npos) out.push_back(text);
    }
    return out;
  }
  // Answers the oldest request that is not about an event.
  void answer(int status, const std::string& body) {
    while (server_.asked.front().text().find("/events") != std::string::npos)
      server_.asked.pop_front();
    server_.answer(status, body);
  }
};

TEST_F(StaleCache, DoesNotLookBeforeBothCachesAreComplete) {
  server_.show(kJobs, "ADDED", job(2));
  server_.show_complete(kJobs, 2);
  EXPECT_THAT(wanted(), IsEmpty());
  server_.show(kPods, "ADDED", pod(1, "Running"));
  server_.show_complete(kPods, 2);
  EXPECT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"))
      << "the pod was there all the time";
}

TEST_F(StaleCache, MakesNoPodTwiceWhileTheFirstHasNotShownUp) {
  server_.show(kJobs, "ADDED", job(2));
  server_.show_complete(kJobs, 2);
  server_.show_complete(kPods, 2);
  ASSERT_THAT(wanted(), ElementsAre("POST /api/v1/namespaces/d/pods"));
  answer(201, pod(3, "Pending"));
  ASSERT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"));
  answer(200, job(4));
  server_.show(kJobs, "MODIFIED", job(5, R"(,"activeDeadlineSeconds":9)"));
  server_.pass_time(seconds(8));
  EXPECT_THAT(wanted(), IsEmpty());
  server_.show(kPods, "ADDED", pod(3, "Pending"));
  EXPECT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"));
}

TEST_F(StaleCache, CountsNoPodTwiceWhileItsFinalizerSeemsToBeThere) {
  constexpr std::string_view kCounted =
      R"("active":1,"ready":0,"terminating":0,"uncountedTerminatedPods":{},)"
      R"("startTime":"2027-01-15T08:00:00Z")";
  server_.show(kJobs, "ADDED", job(2, "", kCounted));
  server_.show_complete(kJobs, 2);
  server_.show(kPods, "ADDED", pod(2, "Failed"));
  server_.show_complete(kPods, 2);
  ASSERT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"));
  const std::string noted = job(3, "",
                                R"("ready":0,"terminating":0,"uncountedTerminatedPods":)"
                                R"({"failed":["u-p"]},"startTime":"2027-01-15T08:00:00Z")");
  answer(200, noted);
  ASSERT_THAT(wanted(), ElementsAre("PATCH /api/v1/namespaces/d/pods/p"));
  answer(200, pod(4, "Failed", false));
  server_.show(kJobs, "MODIFIED", noted);
  EXPECT_THAT(wanted(), IsEmpty());
  server_.show(kPods, "MODIFIED", pod(4, "Failed", false));
  ASSERT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"));
  json::Arena arena;
  EXPECT_EQ(server_.asked.back().json(arena).get({"status", "failed"}).as_int(), 1);
}

TEST_F(StaleCache, EndsOnceThoughTheEndIsLateToShow) {
  constexpr std::string_view kAnnounced =
      R"("ready":0,"terminating":0,"uncountedTerminatedPods":{},"failed":7,)"
      R"("startTime":"2027-01-15T08:00:00Z","conditions":[{"type":"FailureTarget",)"
      R"("status":"True","reason":"R","message":"M"}])";
  server_.show(kJobs, "ADDED", job(2, "", kAnnounced));
  server_.show_complete(kJobs, 2);
  server_.show_complete(kPods, 2);
  ASSERT_THAT(wanted(), ElementsAre("PATCH /apis/batch/v1/namespaces/d/jobs/j/status"));
  answer(200, job(9));
  server_.show(kJobs, "MODIFIED", job(5, "", kAnnounced));
  server_.pass_time(seconds(8));
  EXPECT_THAT(wanted(), IsEmpty());
}

// Nothing further is heard of Jobs, as after the last Job has gone.
TEST(PodsOfAJobThatIsGone, AreLetGoThoughTheyChangeAfterIt) {
  World world;
  world.create_job(R"("parallelism":3)");
  ASSERT_THAT(world.active(), SizeIs(3));
  const std::vector<std::string> pods = world.active();
  world.at_once([&] {
    world.delete_job("Background");
    for (const std::string& pod : pods) world.delete_pod(pod);
  });
  EXPECT_THAT(world.pods(), IsEmpty());
}

TEST(PodsOfAJobThatIsGone, AreLetGoWhenTheCollectorHasComeToThem) {
  World world({}, true);
  world.create_job(R"("parallelism":3)");
  const std::vector<std::string> pods = world.active();
  world.delete_job("Background");
  world.requests.clear();
  world.pass(seconds(5));
  EXPECT_THAT(world.requests, IsEmpty());
  for (const std::string& pod : pods) world.delete_pod(pod);
  EXPECT_THAT(world.requests, SizeIs(3)) << "one for each";
  EXPECT_THAT(world.pods(), IsEmpty());
}

TEST(PodsOfAJobThatIsGone, AreLetGoAtOnceIfNobodyCollectsGarbage) {
  World world({}, false);
  world.create_job(R"("parallelism":1)");
  const std::string pod = world.active().at(0);
  world.delete_job("Background");
  EXPECT_FALSE(world.tracked(pod));
}

// The JobSet "s", its Job "j" with three pods, of which the test may make one fail.
class JobOfASet : public ::testing::Test {
 protected:
  static constexpr const char* kSets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/d/jobsets";

  void begin(bool collects_garbage) {
    world_ = std::make_unique<World>(PodLimits{}, collects_garbage);
    world_->must("POST", kSets, R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",
                                  "metadata":{"name":"s"},"spec":{"replicatedJobs":[]}})");
    world_->create_job(R"("parallelism":3)");
    world_->patch_job(fmt::format(
        R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"jobset.x-k8s.io/v1alpha2",)"
        R"("kind":"JobSet","name":"s","uid":"{}","controller":true}}]}}}})",
        uid_of_set()));
    EXPECT_THAT(world_->active(), SizeIs(3));
  }
  std::string uid_of_set() { return world_->text(std::string(kSets) + "/s", {"metadata", "uid"}); }
  void delete_set(std::string_view propagation) {
    world_->must("DELETE", std::string(kSets) + "/s",
                 fmt::format(R"({{"propagationPolicy":"{}"}})", propagation));
    world_->settle();
  }
  // How many pods are there a while after one failed.
  std::size_t after_a_failure() {
    world_->fail(world_->active().at(0));
    world_->pass(seconds(60));
    return world_->active().size();
  }

  std::unique_ptr<World> world_;
};

TEST_F(JobOfASet, ReplacesItsPods) {
  begin(true);
  EXPECT_EQ(after_a_failure(), 3u);
}

TEST_F(JobOfASet, CreatesNoPodWhenTheSetIsGone) {
  begin(true);
  delete_set("Background");
  EXPECT_EQ(after_a_failure(), 2u);
  EXPECT_THAT(world_->status(), HasSubstr("active=2")) << "what there is still counts";
}

TEST_F(JobOfASet, CreatesNoPodWhileTheSetIsBeingDeleted) {
  begin(true);
  delete_set("Foreground");
  EXPECT_EQ(after_a_failure(), 2u);
}

TEST_F(JobOfASet, GoesOnIfItIsToOutliveTheSet) {
  begin(true);
  delete_set("Orphan");
  EXPECT_EQ(after_a_failure(), 3u);
}

TEST_F(JobOfASet, GoesOnIfNobodyCollectsGarbage) {
  begin(false);
  delete_set("Background");
  EXPECT_EQ(after_a_failure(), 3u);
}

TEST(JobMetricsOf, AJobAreCounted) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":2,"completions":2,)"
                   R"("podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":)"
                   R"({"operator":"In","values":[4]}}]})");
  world.fail(world.active().at(0), 4);
  world.pass(seconds(10));
  for (const auto& pod : world.active()) world.succeed(pod);
  world.create_job(R"("managedBy":"acme.io/x")", "Never", "foreign");
  const std::string text = world.metrics.text();
  for (
      const std::string_view line : {
          R"(job_controller_jobs_finished_total{completion_mode="Indexed",reason="CompletionsReached",result="succeeded"} 1)",
          R"(job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2)",
          R"(job_controller_job_finished_indexes_total{backoffLimit="global",status="succeeded"} 2)",
          R"(job_controller_pod_failures_handled_by_failure_policy_total{action="Ignore"} 1)",
          R"(job_controller_terminated_pods_tracking_finalizer_total{event="add"} 3)",
          R"(job_controller_terminated_pods_tracking_finalizer_total{event="delete"} 3)",
          R"(job_controller_job_pods_creation_total{reason="new",status="succeeded"} 2)",
          R"(job_controller_jobs_by_external_controller_total{controller_name="acme.io/x"} 1)",
          R"(job_controller_job_syncs_total{action="pods_created")",
          R"(job_controller_job_sync_duration_seconds_count{)",
      }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace controller_test
}  // namespace muster::controllers::job
