// Stories of pods on a node, named after the sentences of pod-lifecycle 2.
#include "agent/lifecycle/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/testing.h"

namespace muster::agent {
namespace machine_test {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Story;

TEST(Machine, NothingStartsBeforeVolumesAndAddressAreThere) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.memory.prepared = false;
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.state("a"), "waiting ContainerCreating");
  EXPECT_EQ(pod.condition("PodReadyToStartContainers"), "False");
}

TEST(Machine, MainContainersStartInOnePassWithoutWaitingForReadiness) {
  Story pod(R"({"containers":[{"name":"b","readinessProbe":{}},{"name":"a"}]})");
  EXPECT_THAT(pod.step(), ElementsAre("start b", "start a"));
  pod.starts("b");
  pod.starts("a");
  EXPECT_EQ(pod.phase(), "Running");
  EXPECT_EQ(pod.condition("Ready"), "False ContainersNotReady");
  pod.run_of("b").readiness = true;
  pod.step();
  EXPECT_EQ(pod.condition("Ready"), "True");
}

TEST(Machine, InitContainersRunOneAtATimeInOrderThenTheMainOnes) {
  Story pod(R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})");
  EXPECT_THAT(pod.step(), ElementsAre("start i"));
  EXPECT_THAT(pod.starts("i"), IsEmpty());
  EXPECT_EQ(pod.state("a"), "waiting PodInitializing");
  EXPECT_THAT(pod.exits("i", 0), ElementsAre("start j"));
  pod.starts("j");
  EXPECT_EQ(pod.condition("Initialized"), "False ContainersNotInitialized");
  EXPECT_THAT(pod.exits("j", 0), ElementsAre("start a"));
  pod.starts("a");
  EXPECT_EQ(pod.phase(), "Running");
  EXPECT_EQ(pod.condition("Initialized"), "True");
}

TEST(Machine, FailedInitContainerOfANeverPodFailsThePod) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],
                "containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 3), IsEmpty());
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.state("i"), "terminated Error 3");
  EXPECT_EQ(pod.state("a"), "waiting PodInitializing");
}

TEST(Machine, FailedInitContainerOfAnOnFailurePodIsRunAgainAndThePodStaysPending) {
  Story pod(R"({"restartPolicy":"OnFailure","initContainers":[{"name":"i"}],
                "containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 3), ElementsAre("start i"));
  EXPECT_EQ(pod.phase(), "Pending");
}

TEST(Machine, InitContainerKilledForMemoryHasFailedEvenWithExitCodeZero) {
  Story pod(R"({"restartPolicy":"OnFailure","initContainers":[{"name":"i"}],
                "containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 0, "OOMKilled"), ElementsAre("start i"));
}

constexpr std::string_view kWithSidecar = R"({"restartPolicy":"Never",
    "initContainers":[{"name":"s","restartPolicy":"Always","startupProbe":{}}],
    "containers":[{"name":"a"}]})";

TEST(Machine, NextContainerWaitsUntilASidecarHasStarted) {
  Story pod(kWithSidecar);
  EXPECT_THAT(pod.step(), ElementsAre("start s"));
  EXPECT_THAT(pod.starts("s"), IsEmpty());
  pod.run_of("s").startup = true;
  EXPECT_THAT(pod.step(), ElementsAre("start a"));
}

TEST(Machine, SidecarIsRestartedEvenInANeverPodUntilTheMainContainersAreDone) {
  Story pod(kWithSidecar);
  pod.step();
  pod.starts("s");
  pod.run_of("s").startup = true;
  pod.step();
  pod.starts("a");
  EXPECT_THAT(pod.exits("s", 1), ElementsAre("start s"));
  pod.starts("s");
  EXPECT_THAT(pod.exits("a", 0), ElementsAre("term s"));
  EXPECT_EQ(pod.phase(), "Running") << "the sidecar still runs";
  EXPECT_THAT(pod.exits("s", 143), IsEmpty());
  EXPECT_EQ(pod.phase(), "Succeeded") << "sidecar exit codes never matter";
}

TEST(Machine, EachSidecarIsSignalledAfterTheMainContainersAndTheSidecarsBehindIt) {
  Story pod(R"({"initContainers":[{"name":"s","restartPolicy":"Always"},
      {"name":"t","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("s");
  pod.starts("t");
  pod.starts("a");
  EXPECT_THAT(pod.is_deleted(30), ElementsAre("term a"));
  EXPECT_THAT(pod.exits("a", 0), ElementsAre("term t"));
  EXPECT_THAT(pod.exits("t", 0), ElementsAre("term s"));
  EXPECT_THAT(pod.passes(seconds(29)), IsEmpty());
  EXPECT_THAT(pod.passes(seconds(1)), ElementsAre("kill s"));
}

TEST(Machine, SidecarWhoseGraceIsUsedUpByWaitingGetsTwoSeconds) {
  Story pod(R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],
                "containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("s");
  pod.starts("a");
  pod.is_deleted(5);
  EXPECT_THAT(pod.passes(seconds(5)), ElementsAre("term s", "kill a"));
  EXPECT_THAT(pod.exits("a", 137), IsEmpty());
  EXPECT_THAT(pod.passes(seconds(2)), ElementsAre("kill s"));
}

TEST(Machine, CrashLoopBackOffDoublesFromTenSecondsToFiveMinutes) {
  Story pod(R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  EXPECT_THAT(pod.exits("a", 1), ElementsAre("start a")) << "the first restart is immediate";
  int number = 1;
  for (const int delay : {10, 20, 40, 80, 160, 300, 300}) {
    pod.starts("a");
    EXPECT_THAT(pod.exits("a", 1), IsEmpty());
    EXPECT_EQ(pod.state("a"), "waiting CrashLoopBackOff");
    EXPECT_EQ(pod.phase(), "Running");
    EXPECT_EQ(pod.look_again, pod.now + seconds(delay));
    EXPECT_THAT(pod.passes(seconds(delay - 1)), IsEmpty());
    EXPECT_EQ(pod.container_status("a").get("restartCount").as_int(), number);
    EXPECT_THAT(pod.passes(seconds(1)), ElementsAre("start a"));
    ++number;
  }
  EXPECT_EQ(pod.notices[0], "BackOff: Back-off restarting failed container a in pod p_ns(u)");
}

TEST(Machine, BackOffStartsAfreshAfterARunOfMoreThanTenMinutes) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.exits("a", 1);
  pod.starts("a");
  pod.passes(seconds(601));
  EXPECT_THAT(pod.exits("a", 1), ElementsAre("start a"));
}

TEST(Machine, WaitingMessageNamesTheDelayAndThePod) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  for (int i = 0; i < 4; ++i) {
    pod.exits("a", 1);
    pod.passes(seconds(100));
    pod.starts("a");
  }
  pod.exits("a", 1);
  EXPECT_EQ(pod.container_status("a").get({"state", "waiting", "message"}).as_string(),
            "back-off 1m20s restarting failed container=a pod=p_ns(u)");
}

TEST(Machine, ContainerRulesComeBeforeThePodsPolicy) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a","restartPolicy":"Never",
      "restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]})");
  pod.step();
  pod.starts("a");
  EXPECT_THAT(pod.exits("a", 42), ElementsAre("start a"));
  pod.starts("a");
  EXPECT_THAT(pod.exits("a", 1), IsEmpty());
  EXPECT_EQ(pod.phase(), "Failed");
}

TEST(Machine, RestartAllContainersStopsTheRestAndBeginsWithTheInitContainers) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[
      {"name":"a","restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers",
       "exitCodes":{"operator":"In","values":[42]}}]},
      {"name":"b","lifecycle":{"preStop":{}}}]})");
  pod.step();
  pod.starts("i");
  pod.exits("i", 0);
  pod.starts("a");
  pod.starts("b");
  EXPECT_THAT(pod.exits("a", 42), ElementsAre("term b")) << "no preStop hook";
  EXPECT_EQ(pod.condition("AllContainersRestarting"), "True RestartAllContainersStarted");
  EXPECT_THAT(pod.passes(seconds(2)), ElementsAre("kill b"));
  EXPECT_THAT(pod.exits("b", 143), ElementsAre("start i"));
  EXPECT_EQ(pod.state("a"), "waiting RestartingAllContainers");
  EXPECT_EQ(pod.condition("Initialized"), "True") << "never taken back";
  EXPECT_EQ(pod.condition("AllContainersRestarting"), "False");
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 0), ElementsAre("start a", "start b"));
  pod.starts("b");
  EXPECT_EQ(pod.container_status("b").get("restartCount").as_int(), 1);
  EXPECT_EQ(pod.container_status("b").get({"lastState", "terminated", "reason"}).as_string(),
            "RestartingAllContainers");
}

TEST(Machine, DeletionRunsPreStopThenSignalsThenKills) {
  Story pod(R"({"containers":[{"name":"a","lifecycle":{"preStop":{}}}]})");
  pod.step();
  pod.starts("a");
  EXPECT_THAT(pod.is_deleted(10), ElementsAre("pre-stop a"));
  EXPECT_THAT(pod.notices, ElementsAre("Killing: Stopping container a"));
  pod.now += seconds(3);
  pod.run_of("a").stop->pre_stop = Hook::kDone;
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
  EXPECT_THAT(pod.passes(seconds(6)), IsEmpty()) << "the hook's time is taken out of the grace";
  EXPECT_THAT(pod.passes(seconds(1)), ElementsAre("kill a"));
  pod.exits("a", 137);
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.memory.stage, Stage::kTerminated);
}

TEST(Machine, HookThatOutlastsTheGraceIsGivenUp) {
  Story pod(R"({"containers":[{"name":"a","lifecycle":{"preStop":{}}}]})");
  pod.step();
  pod.starts("a");
  pod.is_deleted(10);
  EXPECT_THAT(pod.passes(seconds(10)), ElementsAre("term a"));
  EXPECT_THAT(pod.passes(seconds(2)), ElementsAre("kill a"));
}

TEST(Machine, ShorterGraceCutsAStopThatIsUnderWay) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  EXPECT_THAT(pod.is_deleted(30), ElementsAre("term a"));
  pod.passes(seconds(5));
  EXPECT_THAT(pod.is_deleted(1), IsEmpty());
  EXPECT_THAT(pod.passes(seconds(1)), ElementsAre("kill a"));
}

TEST(Machine, LongerGraceThatComesLaterIsIgnored) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.is_deleted(5);
  pod.is_deleted(60);
  EXPECT_THAT(pod.passes(seconds(5)), ElementsAre("kill a"));
}

TEST(Machine, NothingStartsAfterDeletion) {
  Story pod(R"({"restartPolicy":"Always","containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.is_deleted(30);
  EXPECT_THAT(pod.exits("a", 0), IsEmpty());
  EXPECT_EQ(pod.phase(), "Succeeded");
}

TEST(Machine, PodDeletedBeforeItStartedFailsWithUnknownStatuses) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.memory.prepared = false;
  EXPECT_THAT(pod.is_deleted(30), IsEmpty());
  EXPECT_EQ(pod.memory.stage, Stage::kTerminated);
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.state("a"), "terminated ContainerStatusUnknown 137");
  EXPECT_THAT(pod.notices, IsEmpty());
}

TEST(Machine, DeadlineCountsFromStartTimeAndFailsThePodAfterItsProcessesAreGone) {
  Story pod(R"({"activeDeadlineSeconds":60,"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  EXPECT_EQ(pod.look_again, pod.now + seconds(60));
  EXPECT_THAT(pod.passes(seconds(60)), ElementsAre("term a"));
  EXPECT_EQ(pod.phase(), "Running");
  pod.exits("a", 0);
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.status().get("reason").as_string(), "DeadlineExceeded");
}

TEST(Machine, FailedLivenessProbeKillsAndRestarts) {
  Story pod(R"({"containers":[{"name":"a","livenessProbe":{"terminationGracePeriodSeconds":7}}]})");
  pod.step();
  pod.starts("a");
  pod.run_of("a").unhealthy = true;
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
  EXPECT_THAT(pod.notices,
              ElementsAre("Killing: Container a failed liveness probe, will be restarted"));
  EXPECT_EQ(pod.look_again, pod.now + seconds(7));
  EXPECT_THAT(pod.exits("a", 143), ElementsAre("start a"));
}

TEST(Machine, FailedProbeOfANeverPodEndsIt) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a","startupProbe":{}}]})");
  pod.step();
  pod.starts("a");
  pod.run_of("a").startup = false;
  pod.run_of("a").unhealthy = true;
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
  EXPECT_THAT(pod.notices, ElementsAre("Killing: Container a failed startup probe"));
  pod.exits("a", 143);
  EXPECT_EQ(pod.phase(), "Failed");
}

TEST(Machine, PostStartHookDelaysTheNextContainerAndItsFailureKills) {
  Story pod(R"({"containers":[{"name":"a","lifecycle":{"postStart":{}}},{"name":"b"}]})");
  pod.step();
  EXPECT_THAT(pod.starts("a"), ElementsAre("post-start a"));
  pod.run_of("a").post_start = Hook::kFailed;
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
  EXPECT_THAT(pod.notices, ElementsAre("FailedPostStartHook: PostStartHook failed",
                                       "Killing: FailedPostStartHook"));
}

TEST(Machine, ContainerThatCannotBeTriedIsTriedAgainLater) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  advance(pod.view(), pod.memory, {}, pod.now);
  note_trouble(pod.memory, 0,
               {"CreateContainerConfigError", "configmap \"x\" not found", pod.now + seconds(10)});
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.state("a"), "waiting CreateContainerConfigError");
  EXPECT_EQ(pod.phase(), "Pending");
  EXPECT_THAT(pod.passes(seconds(10)), ElementsAre("start a"));
}

TEST(Machine, ObjectThatVanishedIsStoppedWithTheGraceOfItsSpec) {
  Story pod(R"({"terminationGracePeriodSeconds":4,"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.memory.object_gone = true;
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
  EXPECT_THAT(pod.passes(seconds(4)), ElementsAre("kill a"));
}

TEST(Machine, RunThatIsStillOnItsWayIsSignalledOnceItRuns) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  EXPECT_THAT(pod.is_deleted(30), IsEmpty());
  EXPECT_THAT(pod.starts("a"), ElementsAre("term a"));
}

// KEP-498, played by the agent.

constexpr std::string_view kGang = R"({"restartPolicy":"OnFailure",
    "initContainers":[{"name":"i"},{"name":"group-scheduling-init"}],
    "containers":[{"name":"a"},{"name":"b"}]})";
constexpr std::string_view kBarrierNotes =
    R"({"muster.dev/barrier":"js-group-scheduling/started-0","muster.dev/barrier-timeout":"60",
        "muster.dev/barrier-size":"4"})";

TEST(Barrier, ATimeoutBeyondAllTimeIsNotOverAtOnce) {
  Story pod(kGang, R"({"muster.dev/barrier":"js-group-scheduling/started-0",
                       "muster.dev/barrier-timeout":"9223372036854775807"})");
  pod.step();
  pod.starts("i");
  pod.exits("i", 0);
  EXPECT_THAT(pod.passes(seconds(3600)), IsEmpty());
  EXPECT_EQ(pod.state("group-scheduling-init"), "running");
}

TEST(Barrier, HoldsTheMainContainersAndLetsThemGoWithOneWord) {
  Story pod(kGang, kBarrierNotes);
  pod.step();
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 0), ElementsAre("hold a", "hold b"));
  EXPECT_EQ(pod.state("group-scheduling-init"), "running");
  EXPECT_EQ(pod.state("a"), "waiting PodInitializing");
  EXPECT_EQ(pod.phase(), "Pending");
  pod.memory.barrier_open = true;
  EXPECT_THAT(pod.step(), ElementsAre("open gate"));
  EXPECT_EQ(pod.state("group-scheduling-init"), "terminated Completed 0");
  pod.starts("a");
  pod.starts("b");
  EXPECT_EQ(pod.phase(), "Running");
  EXPECT_EQ(pod.condition("Ready"), "True");
}

TEST(Barrier, ThatIsOpenAlreadyHoldsNobody) {
  Story pod(kGang, kBarrierNotes);
  pod.memory.barrier_open = true;
  pod.step();
  pod.starts("i");
  EXPECT_THAT(pod.exits("i", 0), ElementsAre("start a", "start b"));
}

TEST(Barrier, GateThatStaysShutIsTriedAgainLaterAndHoldsAllUntilThen) {
  Story pod(kGang, kBarrierNotes);
  pod.step();
  pod.starts("i");
  pod.exits("i", 0);
  pod.memory.barrier_open = true;
  pod.gate_opens = false;
  EXPECT_THAT(pod.step(), ElementsAre("open gate"));
  EXPECT_THAT(pod.step(), IsEmpty()) << "not at once";
  EXPECT_EQ(pod.look_again, pod.now + seconds(1));
  EXPECT_TRUE(pod.run_of("a").held && pod.run_of("b").held);
  pod.gate_opens = true;
  EXPECT_THAT(pod.passes(seconds(1)), ElementsAre("open gate"));
  EXPECT_FALSE(pod.run_of("a").held || pod.run_of("b").held);
  EXPECT_THAT(pod.passes(seconds(1)), IsEmpty());
}

TEST(Barrier, TimeoutSaysHowManyHadStartedAndIsRepeatedInPlace) {
  Story pod(kGang, kBarrierNotes);
  pod.step();
  pod.starts("i");
  pod.exits("i", 0);
  pod.memory.barrier_started = "3";
  pod.memory.barrier_missing = "1 of js-w-0";
  EXPECT_EQ(pod.look_again, pod.now + seconds(60));
  EXPECT_THAT(pod.passes(seconds(60)), IsEmpty()) << "the main containers stay held";
  EXPECT_EQ(pod.state("group-scheduling-init"), "running");
  const json::Value status = pod.container_status("group-scheduling-init");
  EXPECT_EQ(status.get("restartCount").as_int(), 1);
  EXPECT_EQ(status.get({"lastState", "terminated", "exitCode"}).as_int(), 1);
  EXPECT_THAT(std::string(status.get({"lastState", "terminated", "message"}).as_string()),
              HasSubstr("3 of 4 pods had started; missing: 1 of js-w-0"));
}

TEST(Barrier, TimeoutSaysThatOnlyTheCoordinatorsNameWasMissing) {
  Story pod(R"({"initContainers":[{"name":"group-scheduling-init",
                  "env":[{"name":"COORDINATOR","value":"js-w-0-0.js"}]}],
                "containers":[{"name":"a"}]})",
            kBarrierNotes);
  pod.step();
  pod.memory.barrier_unnamed = true;
  pod.passes(seconds(60));
  EXPECT_EQ(pod.container_status("group-scheduling-init")
                .get({"lastState", "terminated", "message"})
                .as_string(),
            "the group did not start within 60 s: all 4 pods had started, but the name js-w-0-0.js "
            "was not known");
}

TEST(Barrier, TimeoutFailsANeverPodAndKillsWhatIsHeld) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                "containers":[{"name":"a"}]})",
            kBarrierNotes);
  EXPECT_THAT(pod.step(), ElementsAre("hold a"));
  EXPECT_THAT(pod.passes(seconds(60)), ElementsAre("kill a"));
  EXPECT_EQ(pod.phase(), "Pending");
  pod.exits("a", 137);
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.state("a"), "waiting PodInitializing") << "it never ran";
}

// The gate belongs to all pods of the gang on this node: another one may have opened it.
TEST(Barrier, ThatAnotherPodOpenedHasEndedWellWhenTheMainContainerRuns) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                "containers":[{"name":"a"}]})",
            kBarrierNotes);
  pod.step();
  EXPECT_THAT(pod.starts("a"), IsEmpty());
  EXPECT_EQ(pod.state("group-scheduling-init"), "terminated Completed 0");
  EXPECT_EQ(pod.phase(), "Running");
  pod.exits("a", 0);
  EXPECT_EQ(pod.phase(), "Succeeded");
}

TEST(Barrier, ThatAnotherPodOpenedIsNotMissedByAMainContainerThatEndsAtOnce) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                "containers":[{"name":"a"}]})",
            kBarrierNotes);
  pod.step();
  pod.run_of("a").started = pod.now;
  pod.run_of("a").held = false;
  pod.exits("a", 0);
  EXPECT_EQ(pod.state("group-scheduling-init"), "terminated Completed 0");
  EXPECT_EQ(pod.phase(), "Succeeded");
}

TEST(Barrier, MainContainerThatCannotBeHeldEndsTheWaiting) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                "containers":[{"name":"a"}]})",
            kBarrierNotes);
  pod.step();
  pod.exits("a", 128, "StartError");
  EXPECT_EQ(pod.state("group-scheduling-init"), "terminated Error 1");
  EXPECT_EQ(pod.phase(), "Failed");
}

}  // namespace machine_test
}  // namespace muster::agent
