// Conditions, clamps and what of a status is sent (pod-lifecycle 1.1 to 1.5).
#include "agent/lifecycle/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/recall.h"
#include "agent/lifecycle/testing.h"

namespace muster::agent {
namespace status_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Story;

std::string message(const Story& pod, std::string_view type) {
  for (const json::Value each : pod.status().get("conditions").items()) {
    if (each.get("type").as_string() == type) return std::string(each.get("message").as_string());
  }
  return "";
}

TEST(PodStatus, ConditionsOfAPodThatInitializes) {
  Story pod(R"({"initContainers":[{"name":"i"},{"name":"j"}],
                "containers":[{"name":"b"},{"name":"a"}]})");
  pod.step();
  EXPECT_EQ(pod.condition("PodScheduled"), "True");
  EXPECT_EQ(pod.condition("PodReadyToStartContainers"), "True");
  EXPECT_EQ(pod.condition("Initialized"), "False ContainersNotInitialized");
  EXPECT_EQ(message(pod, "Initialized"), "containers with incomplete status: [i j]");
  EXPECT_EQ(pod.condition("ContainersReady"), "False ContainersNotReady");
  EXPECT_EQ(message(pod, "Ready"), "containers with unready status: [b a]");
}

TEST(PodStatus, ConditionsOfACompletedPod) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.exits("a", 0);
  EXPECT_EQ(pod.condition("Initialized"), "True PodCompleted");
  EXPECT_EQ(pod.condition("Ready"), "False PodCompleted");
  EXPECT_EQ(pod.condition("ContainersReady"), "False PodCompleted");
  EXPECT_EQ(pod.condition("PodReadyToStartContainers"), "False");
}

TEST(PodStatus, TransitionTimeChangesOnlyWithTheStatus) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.step();
  const auto since = [&] {
    for (const json::Value each : pod.status().get("conditions").items())
      if (each.get("type").as_string() == "Ready")
        return std::string(each.get("lastTransitionTime").as_string());
    return std::string();
  };
  const std::string first = since();
  pod.passes(seconds(10));
  EXPECT_EQ(since(), first);
  pod.starts("a");
  EXPECT_EQ(since(), format_time(pod.now));
}

TEST(PodStatus, ReadinessGatesAreAskedWhenTheContainersAreReady) {
  Story pod(R"({"readinessGates":[{"conditionType":"x/y"}],"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  EXPECT_EQ(pod.condition("ContainersReady"), "True");
  EXPECT_EQ(pod.condition("Ready"), "False ReadinessGatesNotReady");
  EXPECT_EQ(message(pod, "Ready"),
            "corresponding condition of pod readiness gate \"x/y\" does not exist.");
}

TEST(PodStatus, ConditionsOfOthersComeFirstAndStayAsTheyAre) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  json::Value foreign = json::Value::object(pod.pod().arena());
  foreign.set("type", "DisruptionTarget");
  foreign.set("status", "True");
  pod.status().array_at("conditions").push_back(foreign);
  pod.step();
  EXPECT_EQ(pod.status().get("conditions").item(0).get("type").as_string(), "DisruptionTarget");
}

TEST(PodStatus, EndedContainerShowsItsTimesReasonAndId) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.now += seconds(5);
  pod.exits("a", 3);
  const json::Value end = pod.container_status("a").get({"state", "terminated"});
  EXPECT_EQ(end.get("exitCode").as_int(), 3);
  EXPECT_EQ(end.get("containerID").as_string(), "muster://a-0");
  EXPECT_EQ(end.get("finishedAt").as_string(), format_time(pod.now));
  EXPECT_FALSE(end.has("signal"));
}

TEST(PodStatus, ProgramThatCouldNotBeStartedWasStartedAtTheEpoch) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.step();
  pod.exits("a", 128, "StartError");
  const json::Value end = pod.container_status("a").get({"state", "terminated"});
  EXPECT_EQ(end.get("startedAt").as_string(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(pod.phase(), "Failed");
}

TEST(PodStatus, StatusesAreSortedMainByNameInitAsInTheSpec) {
  Story pod(R"({"initContainers":[{"name":"z"},{"name":"y"}],
                "containers":[{"name":"d"},{"name":"c"}]})");
  pod.step();
  const auto names = [&](std::string_view part) {
    std::vector<std::string> out;
    for (const json::Value each : pod.status().get(part).items())
      out.emplace_back(each.get("name").as_string());
    return out;
  };
  EXPECT_THAT(names("initContainerStatuses"), ElementsAre("z", "y"));
  EXPECT_THAT(names("containerStatuses"), ElementsAre("c", "d"));
}

TEST(PodStatus, PhaseThatIsOverStaysOver) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.status().set("phase", "Failed");
  pod.status().set("reason", "Evicted");
  pod.step();
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.status().get("reason").as_string(), "Evicted");
}

TEST(PodStatus, RejectedPodTellsNothingButWhy) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.memory.failed = Verdict{"OutOfcpu", "Pod was rejected: no"};
  json::Arena arena;
  const json::Value status = write_rejection(arena, pod.view(), pod.memory, pod.pod());
  EXPECT_EQ(status.get("reason").as_string(), "OutOfcpu");
  EXPECT_FALSE(status.has("containerStatuses"));
  EXPECT_FALSE(status.has("conditions"));
}

TEST(StatusPatch, CarriesOnlyWhatChangedAndTheUid) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  json::Arena arena;
  const json::Value before = json::clone(arena, pod.status());
  pod.step();
  const json::Value patch = status_patch(arena, pod.view(), before, pod.status());
  EXPECT_EQ(patch.get({"metadata", "uid"}).as_string(), "u");
  EXPECT_FALSE(patch.get("status").has("phase")) << "it is still Pending";
  EXPECT_FALSE(patch.get("status").has("qosClass"));
  const json::Value told = json::clone(arena, pod.status());
  EXPECT_TRUE(status_patch(arena, pod.view(), told, pod.status()).is_null());
  pod.starts("a");
  const json::Value next = status_patch(arena, pod.view(), told, pod.status());
  EXPECT_EQ(next.get({"status", "phase"}).as_string(), "Running");
  EXPECT_EQ(next.get({"status", "conditions"}).size(), 2u) << "Ready and ContainersReady";
}

// After a restart of the agent (pod-lifecycle 9).

std::vector<FoundRun> found_running(const Story& pod) {
  return {{.container = "a", .run = {.number = 0, .id = "a-0", .started = pod.now}}};
}

TEST(Recall, RunningContainerKeepsItsIdStartAndCount) {
  Story pod(R"({"containers":[{"name":"a","readinessProbe":{}}]})");
  pod.step();
  pod.starts("a");
  pod.run_of("a").readiness = true;
  pod.step();
  PodMemory again = recall(pod.view(), pod.status(), found_running(pod), pod.now + seconds(60));
  again.prepared = true;
  pod.memory = again;
  pod.now += seconds(60);
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.state("a"), "running");
  EXPECT_EQ(pod.condition("Ready"), "True") << "no flap before the first probe";
}

TEST(Recall, LostRunOfANeverPodIsNotRunAgain) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.memory = recall(pod.view(), pod.status(), {}, pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.phase(), "Failed");
  EXPECT_EQ(pod.state("a"), "terminated ContainerStatusUnknown 137");
}

TEST(Recall, LostRunOfAnAlwaysPodIsRunAgainWithTheNextNumber) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("a");
  pod.memory = recall(pod.view(), pod.status(), {}, pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), ElementsAre("start a"));
  pod.starts("a");
  EXPECT_EQ(pod.container_status("a").get("restartCount").as_int(), 1);
  EXPECT_EQ(pod.container_status("a").get({"lastState", "terminated", "reason"}).as_string(),
            "ContainerStatusUnknown");
}

TEST(Recall, FinishedInitContainerIsNotRunAgain) {
  Story pod(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("i");
  pod.exits("i", 0);
  pod.memory = recall(pod.view(), pod.status(), found_running(pod), pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.phase(), "Running");
}

TEST(Recall, TerminalPodWithLiveProcessesIsKilled) {
  Story pod(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  pod.status().set("phase", "Failed");
  pod.memory = recall(pod.view(), pod.status(), found_running(pod), pod.now);
  EXPECT_THAT(pod.step(), ElementsAre("term a"));
}

TEST(Recall, BarrierGoesOnWaiting) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"group-scheduling-init"}],
                "containers":[{"name":"a"}]})",
            R"({"muster.dev/barrier":"c/k"})");
  pod.step();
  auto found = found_running(pod);
  found[0].run.held = true;
  found[0].run.started.reset();
  pod.memory = recall(pod.view(), pod.status(), found, pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.state("group-scheduling-init"), "running");
  pod.memory.barrier_open = true;
  EXPECT_THAT(pod.step(), ElementsAre("open gate"));
}

}  // namespace status_test
}  // namespace muster::agent
