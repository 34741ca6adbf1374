// Jobs from their creation to their end, on a real API server in memory. Lines are the statuses in
// the order in which they are stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/world_testing.h"

namespace muster::controllers::job {
namespace scenario_test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testing::World;

TEST(JobScenario, OnePodFromStartToEnd) {
  World world;
  world.create_job("");
  const auto pods = world.pods();
  ASSERT_THAT(pods, SizeIs(1));
  EXPECT_THAT(pods[0], StartsWith("j-"));
  EXPECT_TRUE(world.tracked(pods[0]));
  world.make_ready(pods[0]);
  world.succeed(pods[0]);
  EXPECT_THAT(world.statuses(), ElementsAre("active=1", "active=1 ready=1",
                                            "uncounted.succeeded=1 SuccessCriteriaMet",
                                            "succeeded=1 SuccessCriteriaMet Complete"));
  EXPECT_FALSE(world.tracked(pods[0]));
  EXPECT_THAT(world.events(),
              ElementsAre("SuccessfulCreate: Created pod: " + pods[0], "Completed: Job completed"));
  EXPECT_EQ(world.at({"status", "completionTime"}), world.now());
  EXPECT_TRUE(world.idle());
}

TEST(JobScenario, TwoPodsThatSucceedTogetherAreTwoWrites) {
  World world;
  world.create_job(R"("parallelism":2,"completions":2)");
  world.at_once([&, pods = world.pods()] {
    world.succeed(pods[0]);
    world.succeed(pods[1]);
  });
  EXPECT_THAT(world.statuses(), ElementsAre("active=2", "uncounted.succeeded=2 SuccessCriteriaMet",
                                            "succeeded=2 SuccessCriteriaMet Complete"));
}

TEST(JobScenario, ParallelWithCompletions) {
  World world;
  world.create_job(R"("parallelism":2,"completions":5)");
  for (int i = 0; i < 5; ++i) {
    EXPECT_LE(world.active().size(), 2u);
    world.succeed(world.active().at(0));
  }
  EXPECT_EQ(world.status(), "succeeded=5 SuccessCriteriaMet Complete");
  EXPECT_THAT(world.pods(), SizeIs(5));
}

TEST(JobScenario, AWorkQueueEndsWithItsLastPod) {
  World world;
  world.create_job(R"("parallelism":3)");
  auto pods = world.pods();
  world.succeed(pods[0]);
  EXPECT_EQ(world.status(), "active=2 succeeded=1");
  EXPECT_THAT(world.pods(), SizeIs(3)) << "no more come after the first success";
  world.fail(pods[1]);
  EXPECT_EQ(world.status(), "active=1 succeeded=1 failed=1");
  world.succeed(pods[2]);
  EXPECT_EQ(world.status(), "succeeded=2 failed=1 SuccessCriteriaMet Complete");
}

TEST(JobScenario, IndexedToCompletion) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":3,"completions":4)");
  auto pods = world.pods();
  ASSERT_THAT(pods, ElementsAre(StartsWith("j-0-"), StartsWith("j-1-"), StartsWith("j-2-")));
  EXPECT_EQ(world.pod(pods[1], {"spec", "hostname"}), "j-1");
  world.succeed(pods[1]);
  EXPECT_EQ(world.status(), "active=3 succeeded=1 completedIndexes=1");
  pods = world.active();
  EXPECT_THAT(pods.back(), StartsWith("j-3-"));
  world.statuses();
  for (const std::string& pod : pods) world.succeed(pod);
  EXPECT_THAT(world.statuses(),
              ElementsAre("active=2 succeeded=2 completedIndexes=0,1",
                          "active=1 succeeded=3 completedIndexes=0-2",
                          "succeeded=4 completedIndexes=0-3 SuccessCriteriaMet",
                          "succeeded=4 completedIndexes=0-3 SuccessCriteriaMet Complete"));
}

TEST(JobScenario, AManyPodJobIsMadeAndCountedInBoundedPasses) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":510,"completions":510)");
  EXPECT_THAT(world.pods(), SizeIs(510));
  EXPECT_EQ(world.status(), "active=510");
  world.at_once([&, pods = world.pods()] {
    for (const std::string& pod : pods) world.succeed(pod);
  });
  EXPECT_THAT(world.statuses(),
              Contains("succeeded=500 completedIndexes=0-499 SuccessCriteriaMet"));
  EXPECT_EQ(world.status(), "succeeded=510 completedIndexes=0-509 SuccessCriteriaMet Complete");
}

TEST(JobScenario, FailuresAreReplacedWithGrowingDelaysUntilTheLimit) {
  World world;
  world.create_job(R"("backoffLimit":2)");
  for (const int delay : {10, 20}) {
    world.fail(world.active().at(0));
    EXPECT_THAT(world.active(), IsEmpty());
    world.pass(seconds(delay - 1));
    EXPECT_THAT(world.active(), IsEmpty()) << "after less than " << delay << " s";
    world.pass(seconds(1));
    EXPECT_THAT(world.active(), SizeIs(1)) << "after " << delay << " s";
  }
  world.statuses();
  world.fail(world.active().at(0));
  EXPECT_THAT(world.statuses(), ElementsAre("failed=2 uncounted.failed=1 FailureTarget",
                                            "failed=3 FailureTarget Failed"));
  EXPECT_THAT(world.events(), Contains("BackoffLimitExceeded: Job has reached the specified "
                                       "backoff limit"));
  world.pass(hours(1));
  EXPECT_THAT(world.pods(), SizeIs(3));
}

TEST(JobScenario, ASuccessResetsTheDelay) {
  World world;
  world.create_job(R"("parallelism":2,"completions":9)");
  world.fail(world.active().at(0));
  world.pass(seconds(1));
  world.succeed(world.active().at(0));
  EXPECT_THAT(world.active(), SizeIs(2)) << "at once";
}

TEST(JobScenario, AJobThatFailsWaitsForItsLastPod) {
  World world;
  world.create_job(R"("parallelism":2,"backoffLimit":0)");
  const auto pods = world.pods();
  for (const auto& pod : pods) world.bind(pod);
  world.make_ready(pods[0]);
  world.statuses();
  world.fail(pods[1]);
  EXPECT_THAT(world.statuses(), ElementsAre("terminating=1 uncounted.failed=2 FailureTarget",
                                            "terminating=1 failed=2 FailureTarget"));
  EXPECT_FALSE(world.tracked(pods[0]));
  world.delete_pod(pods[0], R"({"gracePeriodSeconds":0})");
  EXPECT_THAT(world.statuses(),
              ElementsAre("failed=2 FailureTarget", "failed=2 FailureTarget Failed"));
}

TEST(JobScenario, APodThatIsDeletedHasFailedAndIsReplacedWhileItGoes) {
  World world;
  world.create_job(R"("parallelism":1,"completions":1)");
  const std::string pod = world.pods().at(0);
  world.bind(pod);
  world.delete_pod(pod);
  EXPECT_EQ(world.status(), "terminating=1 failed=1");
  EXPECT_FALSE(world.tracked(pod));
  world.pass(seconds(10));
  EXPECT_EQ(world.status(), "active=1 terminating=1 failed=1");
}

TEST(JobScenario, WithThePolicyFailedAPodHoldsItsPlaceUntilItHasFailed) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":1,"completions":2,)"
                   R"("podReplacementPolicy":"Failed")");
  const std::string pod = world.pods().at(0);
  world.bind(pod);
  world.delete_pod(pod);
  world.pass(minutes(1));
  EXPECT_EQ(world.status(), "terminating=1");
  EXPECT_TRUE(world.tracked(pod));
  world.fail(pod);
  EXPECT_EQ(world.status(), "failed=1");
  world.pass(seconds(10));
  EXPECT_THAT(world.active(), ElementsAre(StartsWith("j-0-")));
}

TEST(JobScenario, WithThePolicyFailedAPodThatIsGoneWithoutHavingFailedIsNotCounted) {
  World world;
  world.create_job(R"("podReplacementPolicy":"Failed")");
  const std::string pod = world.pods().at(0);
  const std::string uid = world.pod(pod, {"metadata", "uid"});
  world.must("PATCH", "/api/v1/namespaces/d/pods/" + pod, R"({"metadata":{"finalizers":null}})");
  world.delete_pod(pod, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(world.status(), "active=1");
  EXPECT_NE(world.pod(world.active().at(0), {"metadata", "uid"}), uid);
}

TEST(JobScenario, ParallelismUpDownAndToZero) {
  World world;
  world.create_job(R"("parallelism":2,"completions":9)");
  world.patch_job(R"({"spec":{"parallelism":4}})");
  EXPECT_EQ(world.status(), "active=4");
  world.patch_job(R"({"spec":{"parallelism":1}})");
  EXPECT_EQ(world.status(), "active=1");
  world.patch_job(R"({"spec":{"parallelism":0}})");
  EXPECT_EQ(world.status(), "");
  EXPECT_THAT(world.pods(), IsEmpty());
  world.pass(hours(1));
  EXPECT_EQ(world.status(), "") << "it is not finished";
  world.patch_job(R"({"spec":{"parallelism":2}})");
  EXPECT_EQ(world.status(), "active=2") << "nothing failed, so nothing is waited for";
}

TEST(JobScenario, TheYoungestGoFirst) {
  World world;
  world.create_job(R"("parallelism":1,"completions":9)");
  const std::string oldest = world.pods().at(0);
  world.pass(seconds(5));
  world.patch_job(R"({"spec":{"parallelism":3}})");
  world.patch_job(R"({"spec":{"parallelism":1}})");
  EXPECT_THAT(world.pods(), ElementsAre(oldest));
  EXPECT_THAT(world.events(), Contains(StartsWith("SuccessfulDelete: Deleted pod: j-")).Times(2));
}

TEST(JobScenario, ElasticIndexedJobsGrowAndShrink) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":3,"completions":3)");
  world.succeed(world.pods().at(2));
  EXPECT_EQ(world.status(), "active=2 succeeded=1 completedIndexes=2");
  world.patch_job(R"({"spec":{"parallelism":4,"completions":4}})");
  EXPECT_EQ(world.status(), "active=3 succeeded=1 completedIndexes=2");
  world.patch_job(R"({"spec":{"parallelism":1,"completions":1}})");
  EXPECT_EQ(world.status(), "active=1");
  EXPECT_THAT(world.active(), ElementsAre(StartsWith("j-0-")));
  EXPECT_EQ(
      world.ask("PATCH", "/apis/batch/v1/namespaces/d/jobs/j", R"({"spec":{"completions":2}})"),
      422)
      << "only in tandem";
  world.patch_job(R"({"spec":{"parallelism":0,"completions":0}})");
  EXPECT_EQ(world.status(), "SuccessCriteriaMet Complete");
}

TEST(JobScenario, AnElasticJobKeepsWhatFailed) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":2,"completions":2)");
  world.fail(world.pods().at(1));
  world.patch_job(R"({"spec":{"parallelism":1,"completions":1}})");
  EXPECT_EQ(world.status(), "active=1 failed=1");
}

TEST(JobScenario, SuspendAndResume) {
  World world;
  world.create_job(R"("parallelism":2,"suspend":true)");
  EXPECT_THAT(world.statuses(), ElementsAre("Suspended not-started"));
  EXPECT_THAT(world.pods(), IsEmpty());
  world.pass(minutes(1));
  world.patch_job(R"({"spec":{"suspend":false}})");
  EXPECT_THAT(world.statuses(), ElementsAre("active=2 not-Suspended"));
  EXPECT_EQ(world.at({"status", "startTime"}), world.now());
  for (const auto& pod : world.pods()) world.bind(pod);
  world.patch_job(R"({"spec":{"suspend":true}})");
  EXPECT_THAT(world.statuses(), ElementsAre("terminating=2 Suspended not-started"));
  const auto going = world.pods();
  EXPECT_FALSE(world.tracked(going[0]));
  for (const auto& pod : going) world.delete_pod(pod, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(world.status(), "Suspended not-started") << "nothing failed";
  world.patch_job(R"({"spec":{"suspend":false}})");
  EXPECT_EQ(world.status(), "active=2 not-Suspended");
  EXPECT_THAT(world.events(),
              AllOf(Contains("Suspended: Job suspended"), Contains("Resumed: Job resumed")));
}

TEST(JobScenario, ASuspendedJobWithNothingToDoIsComplete) {
  World world;
  world.create_job(R"("completions":0,"suspend":true)");
  EXPECT_EQ(world.status(), "SuccessCriteriaMet Complete not-started");
}

TEST(JobScenario, TheTemplateOfASuspendedJobMayChangeRightAfterTheWrite) {
  World world;
  world.create_job(R"("parallelism":1)");
  world.bind(world.pods().at(0));
  world.patch_job(R"({"spec":{"suspend":true}})");
  EXPECT_EQ(world.status(), "terminating=1 Suspended not-started");
  world.patch_job(R"({"spec":{"suspend":false,"template":{"spec":{"nodeSelector":{"a":"b"}}}}})");
  EXPECT_EQ(world.pod(world.active().at(0), {"spec", "nodeSelector", "a"}), "b");
}

TEST(JobScenario, TheDeadlineFiresByItself) {
  World world;
  world.create_job(R"("activeDeadlineSeconds":30,"parallelism":2)");
  for (const auto& pod : world.pods()) world.bind(pod);
  world.pass(seconds(29));
  EXPECT_EQ(world.status(), "active=2");
  world.statuses();
  world.pass(seconds(1));
  EXPECT_THAT(world.statuses(), ElementsAre("terminating=2 uncounted.failed=2 FailureTarget",
                                            "terminating=2 failed=2 FailureTarget"));
  for (const auto& pod : world.pods()) world.delete_pod(pod, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(world.status(), "failed=2 FailureTarget Failed");
  EXPECT_THAT(world.events(),
              Contains("DeadlineExceeded: Job was active longer than specified deadline"));
}

TEST(JobScenario, ALaterDeadlineCountsFromTheStart) {
  World world;
  world.create_job(R"("activeDeadlineSeconds":30)");
  world.pass(seconds(20));
  world.patch_job(R"({"spec":{"activeDeadlineSeconds":60}})");
  world.pass(seconds(39));
  EXPECT_EQ(world.status(), "active=1");
  world.pass(seconds(1));
  EXPECT_THAT(world.status(), HasSubstr("FailureTarget"));
}

TEST(JobScenario, RestartsInPlaceCountAgainstTheLimit) {
  World world;
  world.create_job(R"("backoffLimit":2)", "OnFailure");
  const std::string pod = world.pods().at(0);
  const auto restarted = [&](int times) {
    world.set_status(pod, fmt::format(R"({{"phase":"Running","containerStatuses":[{{"name":"c",)"
                                      R"("image":"i","imageID":"","ready":false,)"
                                      R"("restartCount":{}}}]}})",
                                      times));
  };
  restarted(1);
  EXPECT_EQ(world.status(), "active=1");
  restarted(2);
  EXPECT_THAT(world.status(), HasSubstr("FailureTarget"));
}

constexpr std::string_view kPolicy =
    R"("parallelism":2,"completions":2,"podFailurePolicy":{"rules":[)"
    R"({"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}},)"
    R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]})";

TEST(JobScenario, APolicyFailsTheWholeJob) {
  World world;
  world.create_job(kPolicy);
  const auto pods = world.pods();
  world.fail(pods[0], 42);
  EXPECT_EQ(world.status(), "failed=2 FailureTarget Failed");
  EXPECT_THAT(world.events(),
              Contains(fmt::format("PodFailurePolicy: Container c for pod d/{} failed with exit "
                                   "code 42 matching FailJob rule at index 0",
                                   pods[0])));
}

TEST(JobScenario, AnIgnoredDisruptionIsReplacedAndNotCounted) {
  World world;
  world.create_job(kPolicy);
  world.set_status(
      world.pods().at(0),
      R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True"}]})");
  EXPECT_EQ(world.status(), "active=1");
  world.pass(seconds(10));
  EXPECT_EQ(world.status(), "active=2");
}

TEST(JobScenario, APodDeletedWhileTheControllerWasAwayIsStillJudged) {
  World world;
  world.create_job(kPolicy);
  const std::string pod = world.pods().at(0);
  world.bind(pod);
  world.stop_controller();
  world.delete_pod(pod);
  world.end(pod, "Failed", 42);
  world.delete_pod(pod, R"({"gracePeriodSeconds":0})");
  EXPECT_TRUE(world.tracked(pod));
  world.start_controller();
  EXPECT_THAT(world.status(), HasSubstr("FailureTarget Failed"));
}

constexpr std::string_view kPerIndex =
    R"("completionMode":"Indexed","parallelism":2,"completions":2,"backoffLimitPerIndex":1)";

TEST(JobScenario, AnIndexFailsByItself) {
  World world;
  world.create_job(kPerIndex);
  EXPECT_EQ(world.status(), "active=2 failedIndexes=");
  world.fail(world.active().at(0));
  EXPECT_EQ(world.status(), "active=1 failedIndexes=") << "not counted before it is replaced";
  world.pass(seconds(9));
  EXPECT_THAT(world.active(), ElementsAre(StartsWith("j-1-")));
  world.pass(seconds(1));
  EXPECT_EQ(world.status(), "active=2 failed=1 failedIndexes=");
  const std::string second = world.active().at(0);
  EXPECT_THAT(world.pod(second, {"metadata", "annotations"}),
              HasSubstr(R"("batch.kubernetes.io/job-index-failure-count":"1")"));
  world.fail(second);
  EXPECT_EQ(world.status(), "active=1 failed=2 failedIndexes=0");
  world.succeed(world.active().at(0));
  EXPECT_EQ(world.status(),
            "succeeded=1 failed=2 completedIndexes=1 failedIndexes=0 FailureTarget Failed");
  EXPECT_THAT(world.events(), Contains("FailedIndexes: Job has failed indexes"));
}

TEST(JobScenario, AnIndexThatSucceedsAfterAFailure) {
  World world;
  world.create_job(kPerIndex);
  world.fail(world.active().at(0));
  world.pass(seconds(10));
  for (const auto& pod : world.active()) world.succeed(pod);
  EXPECT_EQ(world.status(),
            "succeeded=2 failed=1 completedIndexes=0,1 failedIndexes= "
            "SuccessCriteriaMet Complete");
}

TEST(JobScenario, TooManyFailedIndexes) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":3,"completions":3,)"
                   R"("backoffLimitPerIndex":0,"maxFailedIndexes":1)");
  world.fail(world.active().at(0));
  EXPECT_EQ(world.status(), "active=2 failed=1 failedIndexes=0");
  world.fail(world.active().at(0));
  EXPECT_EQ(world.status(), "failed=3 failedIndexes=0,1 FailureTarget Failed");
}

TEST(JobScenario, SuccessByPolicyStopsTheRestUncounted) {
  World world;
  world.create_job(R"("completionMode":"Indexed","parallelism":3,"completions":3,)"
                   R"("successPolicy":{"rules":[{"succeededIndexes":"0"}]})");
  const auto pods = world.pods();
  for (const auto& pod : pods) world.bind(pod);
  world.statuses();
  world.succeed(pods[0]);
  EXPECT_THAT(world.statuses(),
              ElementsAre("terminating=2 succeeded=1 completedIndexes=0 SuccessCriteriaMet"));
  world.fail(pods[1]);
  world.fail(pods[2]);
  EXPECT_THAT(world.statuses(),
              ElementsAre("terminating=1 succeeded=1 completedIndexes=0 SuccessCriteriaMet",
                          "succeeded=1 completedIndexes=0 SuccessCriteriaMet",
                          "succeeded=1 completedIndexes=0 SuccessCriteriaMet Complete"));
}

TEST(JobScenario, ReadinessIsGatheredButTheLastOneIsTold) {
  World world;
  world.create_job(R"("parallelism":3)");
  const auto pods = world.pods();
  world.make_ready(pods[0]);
  world.make_ready(pods[1]);
  EXPECT_EQ(world.status(), "active=3");
  world.pass(std::chrono::milliseconds(100));
  EXPECT_EQ(world.status(), "active=3 ready=2");
  world.make_ready(pods[2]);
  EXPECT_EQ(world.status(), "active=3 ready=3");
}

TEST(JobScenario, ForeignJobsAreNobodysBusinessHere) {
  World world;
  world.create_job(R"("managedBy":"acme.io/x")");
  EXPECT_THAT(world.pods(), IsEmpty());
  EXPECT_THAT(world.requests, IsEmpty());
  world.create_job(R"("managedBy":"kubernetes.io/job-controller")", "Never", "own");
  EXPECT_THAT(world.pods(), SizeIs(1));
}

}  // namespace scenario_test
}  // namespace muster::controllers::job
