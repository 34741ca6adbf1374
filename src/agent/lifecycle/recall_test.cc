// An agent that takes over knows the processes as they are now and the status as it was last told:
// where they differ, the processes are right.
#include "agent/lifecycle/recall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/testing.h"

namespace muster::agent {
namespace recall_test {

using std::chrono::seconds;
using ::testing::IsEmpty;
using testing::Story;

constexpr std::string_view kBarrier = "group-scheduling-init";

class RecallAtABarrier : public ::testing::Test {
 protected:
  explicit RecallAtABarrier(std::string_view policy = "Never")
      : pod_(fmt::format(R"({{"restartPolicy":"{}","initContainers":[{{"name":"{}"}}],
                              "containers":[{{"name":"a"}}]}})",
                         policy, kBarrier),
             R"({"muster.dev/barrier":"c/k","muster.dev/barrier-timeout":"60"})") {}

  std::vector<std::string> taken_over_with(const agent::Run& found) {
    const std::vector<FoundRun> all = {{.container = "a", .run = found}};
    pod_.memory = recall(pod_.view(), pod_.status(), all, pod_.now);
    pod_.memory.prepared = true;
    return pod_.step();
  }

  Story pod_;
};

TEST_F(RecallAtABarrier, AMainContainerThatRunsProvesThatItHasOpened) {
  pod_.step();
  ASSERT_EQ(pod_.state(kBarrier), "running");
  EXPECT_THAT(taken_over_with({.id = "a-0", .started = pod_.now}), IsEmpty());
  EXPECT_EQ(pod_.phase(), "Running");
  EXPECT_EQ(pod_.state(kBarrier), "terminated Completed 0");
  pod_.exits("a", 0);
  EXPECT_EQ(pod_.phase(), "Succeeded");
}

TEST_F(RecallAtABarrier, SoDoesOneThatRanAlthoughTheStatusKnowsOfNoBarrier) {
  const End end{.code = 0, .reason = "Completed", .message = "", .finished = pod_.now};
  EXPECT_THAT(taken_over_with({.id = "a-0", .started = pod_.now, .end = end}), IsEmpty());
  EXPECT_EQ(pod_.phase(), "Succeeded");
  EXPECT_EQ(pod_.state(kBarrier), "terminated Completed 0");
  EXPECT_EQ(pod_.container_status(kBarrier).get("restartCount").as_int(), 0);
}

TEST_F(RecallAtABarrier, OneThatWasKilledBehindTheGateDoesNot) {
  pod_.step();
  pod_.now += seconds(61);
  const End end{.code = 137, .reason = "Error", .message = "", .finished = pod_.now};
  EXPECT_THAT(taken_over_with({.id = "a-0", .end = end}), IsEmpty());
  EXPECT_EQ(pod_.phase(), "Failed");
  EXPECT_EQ(pod_.state(kBarrier), "terminated Error 1");
  EXPECT_EQ(pod_.container_status(kBarrier).get({"state", "terminated", "message"}).as_string(),
            "the group did not start within 60 s");
}

TEST_F(RecallAtABarrier, OneThatCouldNotBeStartedDoesNotEitherUnlessTheGateIsOpen) {
  const End end{.code = 128, .reason = "StartError", .message = "no x", .finished = pod_.now};
  pod_.step();
  const json::Value told = pod_.status();
  taken_over_with({.id = "a-0", .end = end});
  EXPECT_EQ(pod_.state(kBarrier), "terminated Error 1");
  pod_.pod().set("status", told);
  const std::vector<FoundRun> found = {{.container = "a", .run = {.id = "a-0", .end = end}}};
  pod_.memory = recall(pod_.view(), told, found, pod_.now);
  pod_.memory.prepared = pod_.memory.barrier_open = true;
  pod_.step();
  EXPECT_EQ(pod_.state(kBarrier), "terminated Completed 0");
  EXPECT_EQ(pod_.state("a"), "terminated StartError 128");
}

class RecallOfASecondTry : public RecallAtABarrier {
 protected:
  RecallOfASecondTry() : RecallAtABarrier("OnFailure") {}
};

TEST_F(RecallOfASecondTry, WhichOpenedBeforeItWasTold) {
  pod_.step();
  pod_.passes(seconds(61));
  ASSERT_EQ(pod_.container_status(kBarrier).get("restartCount").as_int(), 1);
  pod_.passes(seconds(61));
  ASSERT_EQ(pod_.state(kBarrier), "waiting CrashLoopBackOff");
  taken_over_with({.id = "a-0", .started = pod_.now});
  EXPECT_EQ(pod_.phase(), "Running");
  EXPECT_EQ(pod_.state(kBarrier), "terminated Completed 0");
  EXPECT_EQ(pod_.container_status(kBarrier).get("restartCount").as_int(), 2);
}

TEST(RecallWithoutABarrier, WhatHasNotStartedYetIsOnItsWayAndNotHeld) {
  Story pod(R"({"containers":[{"name":"a"}]})");
  pod.step();
  const std::vector<FoundRun> found = {{.container = "a", .run = {.id = "a-0", .held = true}}};
  pod.memory = recall(pod.view(), pod.status(), found, pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), IsEmpty()) << "there is no gate that could be opened";
  pod.starts("a");
  EXPECT_EQ(pod.phase(), "Running");
}

TEST(RecallOfASidecar, ThatWasStoppedForTheEndIsNotRunAgain) {
  Story pod(R"({"restartPolicy":"Never","initContainers":[{"name":"s","restartPolicy":"Always"}],
                "containers":[{"name":"a"}]})");
  pod.step();
  pod.starts("s");
  pod.starts("a");
  const End stopped{.code = 143, .reason = "Error", .message = "", .finished = pod.now};
  const End done{.code = 0, .reason = "Completed", .message = "", .finished = pod.now};
  const std::vector<FoundRun> found = {
      {.container = "s", .run = {.id = "s-0", .started = pod.now, .end = stopped}},
      {.container = "a", .run = {.id = "a-0", .started = pod.now, .end = done}}};
  pod.memory = recall(pod.view(), pod.status(), found, pod.now);
  pod.memory.prepared = true;
  EXPECT_THAT(pod.step(), IsEmpty());
  EXPECT_EQ(pod.phase(), "Succeeded");
}

}  // namespace recall_test
}  // namespace muster::agent
