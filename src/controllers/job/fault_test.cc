// What a Job comes to when writes fail, the controller dies, or others interfere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/world_testing.h"

namespace muster::controllers::job {
namespace fault_test {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::World;

bool creates_pod(const http::Request& request) {
  return request.method == "POST" && request.target.find("/pods") != std::string::npos;
}
bool deletes_pod(const http::Request& request) { return request.method == "DELETE"; }
bool patches_pod(const http::Request& request) {
  return request.method == "PATCH" && request.target.find("/pods/") != std::string::npos;
}
bool writes_status(const http::Request& request) {
  return request.target.find("/status") != std::string::npos;
}

using Matches = bool (*)(const http::Request&);

// Refuses what matches, after letting the first `allowed` pass.
auto refusing(Matches matches, int allowed = 0, int status = 403) {
  return [=](const http::Request& request) mutable {
    return matches(request) && allowed-- <= 0 ? status : 0;
  };
}
auto refusing_nothing() {
  return [](const http::Request&) { return 0; };
}

TEST(JobFaults, ActiveCountsOnlyPodsThatWereReallyMade) {
  World world;
  world.refuse = refusing(creates_pod, 2);
  world.create_job(R"("parallelism":6)");
  world.pass(seconds(1));
  EXPECT_THAT(world.pods(), SizeIs(2));
  EXPECT_EQ(world.status(), "active=2");
  EXPECT_THAT(world.events(), Contains("FailedCreate: Error creating: refused"));
  world.refuse = refusing_nothing();
  world.pass(minutes(2));
  EXPECT_EQ(world.status(), "active=6");
}

TEST(JobFaults, WhenTheServerTakesNoPodsEachAttemptIsOneRequest) {
  World world;
  world.refuse = refusing(creates_pod);
  world.create_job(R"("parallelism":8)");
  EXPECT_EQ(std::ranges::count(world.requests, "POST /api/v1/namespaces/d/pods"), 1);
  world.pass(seconds(1));
  EXPECT_EQ(world.status(), "");
  EXPECT_THAT(std::ranges::count(world.requests, "POST /api/v1/namespaces/d/pods"),
              AllOf(Ge(2), ::testing::Le(10)));
}

TEST(JobFaults, ASurplusPodThatCannotBeDeletedStaysCounted) {
  World world;
  world.create_job(R"("parallelism":2)");
  world.refuse = refusing(deletes_pod);
  world.patch_job(R"({"spec":{"parallelism":1}})");
  world.pass(seconds(1));
  EXPECT_EQ(world.status(), "active=2");
  EXPECT_THAT(world.events(), Contains("FailedDelete: Error deleting: refused"));
  world.refuse = refusing_nothing();
  world.pass(minutes(1));
  EXPECT_EQ(world.status(), "active=1");
}

TEST(JobFaults, AJobDoesNotEndWhileItsPodsCannotBeStopped) {
  World world;
  world.create_job(R"("parallelism":2,"backoffLimit":0)");
  world.refuse = refusing(deletes_pod);
  world.fail(world.pods().at(0));
  world.pass(seconds(1));
  EXPECT_EQ(world.status(), "active=1 failed=1");
  world.refuse = refusing_nothing();
  world.pass(minutes(1));
  EXPECT_EQ(world.status(), "failed=2 FailureTarget Failed");
}

TEST(JobFaults, ARefusedStatusIsWrittenLaterAndTheEndOnlyOnce) {
  for (const int status : {409, 403}) {
    World world;
    world.create_job(R"("backoffLimit":0)");
    world.refuse = refusing(writes_status, 0, status);
    world.fail(world.pods().at(0));
    world.pass(seconds(1));
    EXPECT_EQ(world.status(), "active=1");
    world.refuse = refusing_nothing();
    world.pass(minutes(1));
    EXPECT_EQ(world.status(), "failed=1 FailureTarget Failed");
    EXPECT_THAT(world.events(), Contains(HasSubstr("BackoffLimitExceeded")).Times(1));
  }
}

TEST(JobFaults, PodsWhoseFinalizerStaysAreCountedWhenItGoes) {
  World world;
  world.create_job(R"("parallelism":3,"completions":3)");
  world.refuse = refusing(patches_pod, 1);
  world.at_once([&, pods = world.pods()] {
    for (const auto& pod : pods) world.succeed(pod);
  });
  world.pass(std::chrono::milliseconds(50));
  EXPECT_EQ(world.status(), "succeeded=1 uncounted.succeeded=2 SuccessCriteriaMet");
  world.refuse = refusing_nothing();
  world.pass(minutes(1));
  EXPECT_EQ(world.status(), "succeeded=3 SuccessCriteriaMet Complete");
}

TEST(JobFaults, FailedWritesDoNotShortenTheBackoff) {
  World world;
  world.create_job("");
  world.refuse = refusing(patches_pod);
  world.fail(world.pods().at(0));
  world.pass(seconds(5));
  world.refuse = refusing_nothing();
  world.pass(std::chrono::milliseconds(4'900));
  EXPECT_THAT(world.active(), IsEmpty());
  world.pass(std::chrono::milliseconds(200));
  EXPECT_THAT(world.active(), SizeIs(1));
}

TEST(JobFaults, ARelabelledPodIsReleasedAndComesBackWhenItMatches) {
  World world;
  world.create_job(R"("parallelism":1)");
  const std::string pod = world.pods().at(0);
  const std::string uid = world.at({"metadata", "uid"});
  const auto label = [&](std::string_view value) {
    world.must(
        "PATCH", "/api/v1/namespaces/d/pods/" + pod,
        fmt::format(R"({{"metadata":{{"labels":{{"batch.kubernetes.io/controller-uid":"{}"}}}}}})",
                    value));
  };
  world.pass(seconds(5));
  label("other");
  EXPECT_EQ(world.pod(pod, {"metadata", "ownerReferences"}), "null");
  EXPECT_FALSE(world.tracked(pod));
  EXPECT_THAT(world.pods(), SizeIs(2)) << "it is replaced";
  label(uid);
  EXPECT_THAT(world.pod(pod, {"metadata", "ownerReferences"}), HasSubstr(uid));
  EXPECT_TRUE(world.tracked(pod));
  EXPECT_THAT(world.pods(), ElementsAre(pod)) << "the youngest of two is one too many";
  EXPECT_EQ(world.status(), "active=1");
}

TEST(JobFaults, AJobThatIsBeingDeletedAdoptsNothing) {
  World world;
  world.create_job(R"("parallelism":1)");
  const std::string pod = world.pods().at(0);
  world.at_once([&] {
    world.must("PATCH", "/api/v1/namespaces/d/pods/" + pod,
               R"({"metadata":{"ownerReferences":null}})");
    world.ask("DELETE", "/apis/batch/v1/namespaces/d/jobs/j", R"({"propagationPolicy":"Orphan"})");
  });
  EXPECT_EQ(world.pod(pod, {"metadata", "ownerReferences"}), "null");
  EXPECT_FALSE(world.tracked(pod));
}

TEST(JobFaults, ADeletionThatTheCacheHasNotSeenStopsAnAdoption) {
  World world;
  world.create_job(R"("parallelism":1)");
  const std::string pod = world.pods().at(0);
  // Between the look and the write the Job is deleted: its version is another one.
  bool deleted = false;
  world.refuse = [&](const http::Request& request) {
    if (!deleted && request.method == "PATCH" &&
        request.target.find("/jobs/j?") != std::string::npos) {
      deleted = true;
      world.together([&] {
        world.ask("DELETE", "/apis/batch/v1/namespaces/d/jobs/j",
                  R"({"propagationPolicy":"Orphan"})");
      });
    }
    return 0;
  };
  world.must("PATCH", "/api/v1/namespaces/d/pods/" + pod,
             R"({"metadata":{"ownerReferences":null}})");
  world.pass(seconds(1));
  EXPECT_TRUE(deleted);
  EXPECT_EQ(world.pod(pod, {"metadata", "ownerReferences"}), "null");
}

TEST(JobFaults, PodsOfADeletedJobLoseTheirFinalizers) {
  for (const bool away : {false, true}) {
    World world;
    world.create_job(R"("parallelism":2)");
    if (away) world.stop_controller();
    world.delete_job("Background");
    if (away) world.start_controller();
    for (const auto& pod : world.pods()) EXPECT_FALSE(world.tracked(pod)) << away;
    EXPECT_THAT(world.pods(), SizeIs(2));
  }
}

TEST(JobFaults, AJobInForegroundDeletionMakesNoPodsAndHoldsNone) {
  World world;
  world.create_job(R"("parallelism":2)");
  world.delete_job("Foreground");
  for (const auto& pod : world.pods()) {
    EXPECT_FALSE(world.tracked(pod));
    world.delete_pod(pod, R"({"gracePeriodSeconds":0})");
  }
  world.pass(minutes(1));
  EXPECT_THAT(world.pods(), IsEmpty());
  EXPECT_EQ(world.status(), "") << "nothing failed";
}

TEST(JobFaults, AFinishedJobHoldsNoPodThatIsAddedToItLater) {
  World world;
  world.create_job(R"("completions":0)");
  EXPECT_THAT(world.status(), HasSubstr("Complete"));
  const std::string uid = world.at({"metadata", "uid"});
  world.must("POST", "/api/v1/namespaces/d/pods",
             fmt::format(R"({{"metadata":{{"name":"late","finalizers":)"
                         R"(["batch.kubernetes.io/job-tracking"],"ownerReferences":[{{)"
                         R"("apiVersion":"batch/v1","kind":"Job","name":"j","uid":"{}",)"
                         R"("controller":true}}]}},"spec":{{"containers":[{{"name":"c",)"
                         R"("image":"i"}}]}}}})",
                         uid));
  EXPECT_FALSE(world.tracked("late"));
}

TEST(JobFaults, AJobOfTheSameNameStartsAfresh) {
  World world;
  world.create_job(R"("backoffLimit":6)");
  world.fail(world.pods().at(0));
  world.at_once([&] {
    world.ask("DELETE", "/apis/batch/v1/namespaces/d/jobs/j",
              R"({"propagationPolicy":"Background"})");
    world.create_job(R"("backoffLimit":6)");
  });
  EXPECT_EQ(world.status(), "active=1") << "no failures, no back-off";
}

TEST(JobFaults, NothingIsMadeInANamespaceThatGoesAway) {
  World world;
  world.must("PATCH", "/api/v1/namespaces/d", R"({"metadata":{"finalizers":["a.b/c"]}})");
  world.create_job(R"("parallelism":0,"completions":4)");
  world.ask("DELETE", "/api/v1/namespaces/d", "");
  world.requests.clear();
  world.patch_job(R"({"spec":{"parallelism":4}})");
  world.pass(minutes(5));
  EXPECT_THAT(world.pods(), IsEmpty());
  EXPECT_THAT(world.events(), Not(Contains(HasSubstr("FailedCreate"))));
  EXPECT_LE(world.requests.size(), 20u) << "it is not tried over and over";
}

// The whole story of a Job, told by the kubelet: each pod becomes ready, one fails once.
std::string story(World& world) {
  bool failed = false;
  for (int day = 0; day < 12; ++day) {
    for (const std::string& pod : world.active()) {
      if (!failed && pod.starts_with("j-1-")) {
        failed = true;
        world.fail(pod);
      } else {
        world.succeed(pod);
      }
    }
    world.pass(minutes(1));
  }
  return world.status();
}

constexpr std::string_view kStory =
    R"("completionMode":"Indexed","parallelism":2,"completions":3,"backoffLimit":3)";

TEST(JobFaults, WhereverTheControllerDiesTheEndIsTheSame) {
  World undisturbed;
  undisturbed.create_job(kStory);
  const std::string end = story(undisturbed);
  EXPECT_EQ(end, "succeeded=3 failed=1 completedIndexes=0-2 SuccessCriteriaMet Complete");
  const int writes = static_cast<int>(undisturbed.requests.size());
  for (int at = 0; at < writes; ++at) {
    for (const bool written : {false, true}) {
      World world;
      world.die_at(at, written);
      world.create_job(kStory);
      EXPECT_EQ(story(world), end) << "died " << (written ? "after" : "before") << " write " << at;
      EXPECT_TRUE(world.died()) << at;
      for (const auto& pod : world.pods()) EXPECT_FALSE(world.tracked(pod)) << at;
    }
  }
}

}  // namespace fault_test
}  // namespace muster::controllers::job
