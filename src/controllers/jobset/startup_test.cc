// Who starts when: dependsOn (KEP-672) and startupPolicy InOrder (KEP-104), with restarts,
// suspension and crashes in the middle.
#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace startup_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kStatusWrite = "patch jobsets.jobset.x-k8s.io/status ns/js";
constexpr std::string_view kInOrder = R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)";
constexpr std::string_view kOneRestart = R"("failurePolicy": {"maxRestarts": 1},)";

std::string on(std::string_view target, std::string_view status) {
  return fmt::format(R"({{"name": "{}", "status": "{}"}})", target, status);
}
std::string after(std::string_view name, std::string_view dependencies, int replicas = 1) {
  const std::string more = fmt::format(R"("dependsOn": [{}])", dependencies);
  return job(name, {.replicas = replicas, .more = more});
}

class Startup : public ::testing::Test {
 protected:
  void create(std::string_view text) {
    cluster_.create(text);
    cluster_.settle();
  }
  std::string waiting() const { return cluster_.message("muster.dev/Waiting"); }

  Cluster cluster_;
};

// dependsOn

TEST_F(Startup, ADependentStartsWhenItsDependencyIsReady) {
  create(jobset({job("a", {.replicas = 2}), after("b", on("a", "Ready"), 2)}));
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-a-1"));
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-a-1"));
  cluster_.run("js-a-1");
  EXPECT_THAT(cluster_.pass(), ElementsAre("create jobs.batch ns/js-b-0",
                                           "create jobs.batch ns/js-b-1", kStatusWrite));
}

TEST_F(Startup, AChainOfCompleteAndReady) {
  create(jobset({job("a"), after("b", on("a", "Complete")), after("c", on("b", "Ready"))}));
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0")) << "ready is not complete";
  cluster_.succeed("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0", "js-c-0"));
}

TEST_F(Startup, AllOfSeveralDependenciesMustBeReached) {
  create(jobset({job("a"), job("b"), after("c", on("a", "Complete") + "," + on("b", "Complete"))}));
  cluster_.succeed("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  cluster_.succeed("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), Contains("js-c-0"));

  cluster_ = {};
  create(jobset({job("a"), job("b"), after("c", on("a", "Ready") + "," + on("b", "Complete"))}));
  cluster_.run("js-a-0");
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), Not(Contains("js-c-0")));
  cluster_.succeed("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), Contains("js-c-0"));
}

TEST_F(Startup, ALaterEntryDoesNotWaitForOneThatWaits) {
  create(jobset({job("a"), after("b", on("a", "Ready")), job("c")}));
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-c-0"));
}

TEST_F(Startup, IfTheFirstFailsTheSecondNeverRuns) {
  create(jobset({job("a"), after("b", on("a", "Ready"))}));
  cluster_.fail("js-a-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True FailedJobs");
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0"));
  EXPECT_EQ(waiting(), "") << "nobody waits any more";
}

TEST_F(Startup, ARestartStartsTheSequenceAgain) {
  create(jobset({job("a"), after("b", on("a", "Complete"))}, kOneRestart));
  cluster_.succeed("js-a-0");
  cluster_.settle();
  cluster_.run("js-b-0");
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0")) << "b waits for the new a";
  EXPECT_EQ(waiting(), "b waits for a to be Complete: 0 of 1");
  cluster_.succeed("js-a-0");
  cluster_.settle();
  cluster_.succeed("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "True AllJobsCompleted");
}

TEST_F(Startup, WhatRunsRunsOnWhenItsDependencyIsLost) {
  create(jobset({job("a"), after("b", on("a", "Ready"))}));
  cluster_.run("js-a-0");
  cluster_.settle();
  cluster_.begin("js-a-0");
  cluster_.job("js-a-0").get("status").erase("ready");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  EXPECT_EQ(waiting(), "");
}

TEST_F(Startup, SuspendedInTheMiddleFinishedStagesStayFinished) {
  create(jobset({job("a"), job("b"), after("c", on("a", "Complete") + "," + on("b", "Ready"))}));
  cluster_.succeed("js-a-0");
  cluster_.run("js-b-0");
  cluster_.settle();
  cluster_.run("js-c-0");
  cluster_.settle();
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.settle();
  EXPECT_TRUE(cluster_.is_suspended("js-b-0"));
  EXPECT_TRUE(cluster_.is_suspended("js-c-0"));
  for (const char* name : {"js-b-0", "js-c-0"}) cluster_.stop(name);
  cluster_.settle();
  cluster_.edit(R"({"spec": {"suspend": false}})");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-b-0"));
  EXPECT_TRUE(cluster_.is_suspended("js-c-0")) << "b must be ready again first";
  EXPECT_EQ(waiting(), "c waits for b to be Ready: 0 of 1");
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-c-0"));
  EXPECT_EQ(waiting(), "");
}

// InOrder

TEST_F(Startup, InOrderTheNextStartsWhenThisOneIsReady) {
  create(jobset({job("a"), job("b", {.replicas = 2}), job("c")}, kInOrder));
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0"));
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "True InOrderStartupPolicyInProgress");
  EXPECT_EQ(cluster_.message("StartupPolicyInProgress"), "in order startup policy is in progress");
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0", "js-b-1"));
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), Not(Contains("js-c-0")));
  cluster_.run("js-b-1");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "") << "c starts, it has not started";
  cluster_.run("js-c-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "False InOrderStartupPolicyInProgress");
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "True InOrderStartupPolicyCompleted");
  EXPECT_EQ(cluster_.message("StartupPolicyCompleted"), "in order startup policy has completed");
}

TEST_F(Startup, InOrderWhatEndsEarlyDoesNotHoldTheOthersUp) {
  create(jobset({job("a"), job("b")}, kInOrder));
  cluster_.succeed("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
}

TEST_F(Startup, InAnyOrderThereAreNoSuchConditions) {
  create(jobset({job("a"), job("b")}));
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  cluster_.run("js-a-0");
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_TRUE(cluster_.status().get("conditions").is_null());
}

TEST_F(Startup, WhenReadinessIsLostTheConditionsFlip) {
  create(jobset({job("a")}, kInOrder));
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "True InOrderStartupPolicyCompleted");
  cluster_.job("js-a-0").get("status").erase("ready");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "False InOrderStartupPolicyCompleted");
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "True InOrderStartupPolicyInProgress");
}

TEST_F(Startup, ARestartRepeatsTheOrder) {
  create(jobset({job("a"), job("b")}, std::string(kInOrder) + std::string(kOneRestart)));
  cluster_.run("js-a-0");
  cluster_.settle();
  cluster_.run("js-b-0");
  cluster_.settle();
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0"));
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "True InOrderStartupPolicyInProgress");
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
}

TEST_F(Startup, SuspendedThereIsNoOrderAndNoCondition) {
  create(jobset({job("a"), job("b")}, std::string(kInOrder) + R"("suspend": true,)"));
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  EXPECT_EQ(cluster_.condition("StartupPolicyInProgress"), "");
  EXPECT_EQ(cluster_.counts("a"), "suspended 1");
}

TEST_F(Startup, ResumedInOrderTheSetIsSuspendedUntilTheLastHasStarted) {
  create(jobset({job("a"), job("b")}, std::string(kInOrder) + R"("suspend": true,)"));
  cluster_.edit(R"({"spec": {"suspend": false}})");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-a-0"));
  EXPECT_TRUE(cluster_.is_suspended("js-b-0"));
  EXPECT_EQ(cluster_.condition("Suspended"), "True SuspendedJobs");
  EXPECT_EQ(waiting(), "b waits for a to be Ready: 0 of 1");
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-b-0"));
  EXPECT_EQ(cluster_.condition("Suspended"), "True SuspendedJobs");
  cluster_.run("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Suspended"), "False ResumeJobs");
  EXPECT_EQ(cluster_.condition("StartupPolicyCompleted"), "True InOrderStartupPolicyCompleted");
}

TEST_F(Startup, ResumedInAnyOrderAllRunAtOnce) {
  create(jobset({job("a"), job("b")}, R"("suspend": true,)"));
  cluster_.edit(R"({"spec": {"suspend": false}})");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-a-0"));
  EXPECT_FALSE(cluster_.is_suspended("js-b-0"));
  EXPECT_EQ(cluster_.condition("Suspended"), "False ResumeJobs");
}

// What people see of it.

TEST_F(Startup, WaitingIsAConditionWhileItLasts) {
  create(jobset({job("launcher"), after("trainer", on("launcher", "Ready"), 2)}));
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "True Dependency");
  EXPECT_EQ(waiting(), "trainer waits for launcher to be Ready: 0 of 1");
  cluster_.run("js-launcher-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");

  cluster_ = {};
  create(jobset({job("a"), job("b")}, kInOrder));
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "True StartupOrder");
}

TEST_F(Startup, EachStageIsAnnouncedOnce) {
  create(jobset({job("a"), after("b", on("a", "Ready"), 2)}));
  EXPECT_THAT(cluster_.events, ElementsAre("Normal StageStarted: started a: 1 job"));
  cluster_.run("js-a-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.events, ElementsAre("Normal StageStarted: started a: 1 job",
                                           "Normal StageStarted: started b: 2 jobs, a is Ready"));
}

TEST_F(Startup, ResumedStagesAreAnnouncedToo) {
  create(jobset({job("a"), job("b")}, std::string(kInOrder) + R"("suspend": true,)"));
  EXPECT_THAT(cluster_.events, Not(Contains(StartsWith("Normal StageStarted"))));
  cluster_.edit(R"({"spec": {"suspend": false}})");
  cluster_.settle();
  EXPECT_THAT(cluster_.events, Contains("Normal StageStarted: started a: 1 job"));
  EXPECT_THAT(cluster_.events, Not(Contains("Normal StageStarted: started b: 1 job")));
}

TEST_F(Startup, WithoutStagesNothingIsAnnounced) {
  create(jobset({job("a"), job("b")}));
  EXPECT_THAT(cluster_.events, IsEmpty());
}

// A controller that dies after any single write gets to the same end. The stages run, fail once,
// restart and succeed.
class Crash : public ::testing::TestWithParam<std::string> {
 protected:
  // Every write of a life without crashes, if `crash_after` is -1.
  static int live(Cluster& cluster, const std::string& set, int crash_after) {
    int writes = 0;
    cluster.writes_until_crash = crash_after;
    const auto settle = [&] {
      for (int passes = 0; passes < 30; ++passes) {
        const auto written = cluster.pass();
        writes += static_cast<int>(written.size());
        if (written.empty()) return;
      }
      FAIL() << "it does not come to rest";
    };
    cluster.create(set);
    settle();
    cluster.run("js-a-0");
    settle();
    cluster.fail("js-b-0");
    settle();
    cluster.run("js-a-0");
    settle();
    cluster.succeed("js-b-0");
    cluster.succeed("js-b-1");
    settle();
    cluster.succeed("js-a-0");
    settle();
    return writes;
  }
  static std::string end_of(const Cluster& cluster) {
    std::string out = fmt::format("{} restarts {} a: {} b: {}\n", cluster.condition("Completed"),
                                  cluster.status().get("restarts").as_int(), cluster.counts("a"),
                                  cluster.counts("b"));
    for (const std::string& name : cluster.job_names()) {
      const json::Value job = cluster.job(name);
      out += name + " " +
             json::write(
                 job.get({"spec", "template", "metadata", "labels"}).get(label::kRestartAttempt)) +
             "\n";
    }
    return out;
  }
};
TEST_P(Crash, AfterAnyWriteChangesNothingInTheEnd) {
  Cluster undisturbed;
  const int writes = live(undisturbed, GetParam(), -1);
  const std::string end = end_of(undisturbed);
  EXPECT_THAT(end, StartsWith("True AllJobsCompleted restarts 1 a: succeeded 1 b: succeeded 2"));
  ASSERT_GT(writes, 10);
  for (int crash_after = 0; crash_after < writes; ++crash_after) {
    Cluster cluster;
    live(cluster, GetParam(), crash_after);
    EXPECT_EQ(end_of(cluster), end) << "after " << crash_after << " writes";
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, Crash,
    ::testing::Values(
        jobset({job("a"), job("b", {.replicas = 2})},
               std::string(kInOrder) + std::string(kOneRestart)),
        jobset({job("a"), after("b", on("a", "Ready"), 2)}, kOneRestart),
        jobset({job("a"), after("b", on("a", "Ready"), 2)},
               R"("failurePolicy": {"maxRestarts": 1, "restartStrategy": "BlockingRecreate"},)")));

}  // namespace startup_test
}  // namespace muster::controllers::jobset
