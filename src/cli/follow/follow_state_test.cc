// Events that come in another order, the end, and what a terminal shows.
#include "cli/follow/follow_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/follow/testing.h"

namespace muster::cli {
namespace follow_state_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

// The end of the JobSet, of its pods and of their logs are heard of in any order.
TEST(AnyOrder, TheLastWordsAreTheSame) {
  const std::map<std::string, std::function<void(Followed&)>> ends = {
      {"set", [](Followed& f) { f.set(kEndedBadly); }},
      {"pod", [](Followed& f) { f.pod(Followed::failed(0, 3)); }},
      {"other pod", [](Followed& f) { f.gone(1); }},
      {"log", [](Followed& f) { f.line(0, "oh").log_ends(0); }},
      {"other log", [](Followed& f) { f.log_ends(1); }}};
  TextLines order;
  for (const auto& [name, end] : ends) order.push_back(name);
  do {
    Followed followed;
    followed.running();
    for (const std::string& name : order) ends.at(name)(followed);
    ASSERT_GE(followed.out.size(), 5u) << fmt::format("{}", order);
    EXPECT_THAT(TextLines(followed.out.end() - 5, followed.out.end()),
                ElementsAre("jobset train: no more restarts",
                            "failed: pod train-work-0-0-0, container main: exit code 3",
                            "  its last line:", "  | oh", "end: 3"))
        << fmt::format("{}", order);
    EXPECT_EQ(std::ranges::count(followed.out, "log: work-0-0 | oh"), 1)
        << fmt::format("{}", order);
    EXPECT_EQ(std::ranges::count(followed.out, "work: failed"), 1) << fmt::format("{}", order);
  } while (std::ranges::next_permutation(order).found);
}

// What failed is told before the next attempt, by whoever tells of that first.
TEST(AnyOrder, ARestartIsToldOnce) {
  const std::string restart = "work-0-1 failed: exit code 3; restart 1 of 2";
  Followed by_set;
  by_set.running().pod(Followed::failed(1, 3)).set(kRestarted).pods("Running", 1).settle();
  Followed by_pod;
  by_pod.running().pod(Followed::failed(1, 3)).pods("Running", 1).set(kRestarted).settle();
  for (const Followed* followed : {&by_set, &by_pod}) {
    EXPECT_EQ(followed->out.front(), restart);
    EXPECT_EQ(std::ranges::count(followed->out, restart), 1);
  }
  Followed late;  // the pod that failed is heard of after the restart
  late.running().set(kRestarted).pod(Followed::failed(1, 3)).settle();
  EXPECT_EQ(late.out.front(), "restart 1 of 2");
}

// Restarts from before we came are no news.
TEST(AnyOrder, WhoComesLaterIsToldOfLaterRestartsOnly) {
  Followed followed;
  followed.pods("Running", 1).set(kRestarted);
  EXPECT_THAT(followed.out, Not(Contains(HasSubstr("restart"))));
}

TEST(AnyOrder, TheNextAttemptsLogsAreReadWhileThoseOfTheLastAre) {
  Followed followed;
  followed.running().pod(Followed::failed(0, 3)).set(kRestarted).pods("Running", 1);
  followed.line(0, "last words", 0).line(0, "first words", 1);
  EXPECT_THAT(followed.out,
              IsSupersetOf({"log: work-0-0 | last words", "log: work-0-0 | first words",
                            "read: train-work-0-0-1 main run 0"}));
}

TEST(AnyOrder, WarningsMayComeBeforeWhatTheyAreAbout) {
  Followed followed;
  followed.remark(0, "FailedMount", "no secret", kFault);
  followed.remark(0, "ImageIgnored", "image x is ignored", kRemark).podless();
  EXPECT_THAT(followed.out, IsEmpty());
  followed.set(kStarting);
  EXPECT_THAT(followed.out,
              ElementsAre("work: starting 2 pods", "job train-work-0 has no pods: no account"));
  followed.out.clear();
  followed.pod(Followed::facts(0, "Pending")).settle();
  EXPECT_THAT(followed.out,
              ElementsAre("warning: image x is ignored", "work-0-0: FailedMount: no secret"));
}

TEST(AnyOrder, AJobOfTheSameNameThatWasThereBeforeSaysNothing) {
  Followed followed;
  followed.set(kStarting);
  followed.tell(event::JobWarned{.job = "train-work-0",
                                 .message = "no account",
                                 .created = parse_time("2025-12-31T00:00:00Z")});
  EXPECT_THAT(followed.timers, IsEmpty());
}

// A server that is back tells everything once more.
TEST(AnyOrder, WhatIsToldAgainIsNoNews) {
  Followed followed;
  followed.running().remark(0, "ImageIgnored", "image x is ignored", kRemark);
  followed.pod(Followed::failed(1, 3)).set(kRestarted).pods("Running", 1).settle();
  followed.out.clear();
  followed.remark(0, "ImageIgnored", "image x is ignored", kRemark);
  followed.pod(Followed::failed(1, 3)).pods("Running", 1).set(kRestarted).settle();
  EXPECT_THAT(followed.out, IsEmpty());
}

// Over watches the JobSet's end may be heard of before any of its pods.
TEST(TheEnd, WaitsUntilAllPodsAreKnownAndTheirLogsRead) {
  Followed followed;
  followed.answers_pods = false;
  followed.set(kEndedWell);
  EXPECT_THAT(followed.out, ElementsAre("work: done", "ask: pods"));
  followed.out.clear();
  followed.pods("Succeeded").tell(event::PodsComplete{}).line(0, "hello").log_ends(0);
  EXPECT_THAT(followed.out, Not(Contains(HasSubstr("end:"))));
  followed.log_ends(1);
  EXPECT_EQ(followed.out.back(), "end: 0");
}

TEST(TheEnd, DoesNotWaitForAllPodsForLong) {
  Followed followed;
  followed.running().logs_end().set(kEndedWell);
  EXPECT_THAT(followed.out, Not(Contains(HasSubstr("end:")))) << "pods may have something to say";
  followed.fire(FollowTimer::kLastWords);
  EXPECT_EQ(followed.out.back(), "end: 0");
}

TEST(TheEnd, IsToldOnce) {
  Followed followed;
  followed.running().pods("Succeeded").logs_end().set(kEndedWell);
  followed.out.clear();
  followed.set(kEndedWell).tell(event::JobSetGone{}).gone(0).settle().after(5);
  EXPECT_THAT(followed.out, IsEmpty());
}

// A run that stops its JobSet after the end shows what the pods still say.
TEST(TheEnd, LinesOfLogsGoOnAfterIt) {
  Followed followed;
  followed.state.plan.timeout = std::chrono::seconds(1);
  followed.running().begin().after(1);
  followed.out.clear();
  followed.tell(event::StopRequested{}).line(0, "saved");
  EXPECT_THAT(followed.out, ElementsAre("log: work-0-0 | saved"));
}

TEST(Containers, ThatAreStartedAgainAreReadOneRunAfterTheOther) {
  Followed followed;
  followed.running();
  story::PodFacts again = Followed::facts(0, "Running");
  again.logs[0].restarts = 1;
  followed.pod(again).settle();
  EXPECT_THAT(followed.out, IsEmpty());
  followed.log_ends(0);
  EXPECT_THAT(followed.out, ElementsAre("read: train-work-0-0-0 main run 1"));
}

FollowPlan plan_with_block() {
  FollowPlan plan = usual_plan();
  plan.has_block = true;
  return plan;
}

// On a terminal stages are no lines, but a block.
TEST(ABlock, TakesThePlaceOfLinesAboutStages) {
  Followed followed(plan_with_block());
  followed.set(kStarting);
  EXPECT_THAT(followed.out,
              ElementsAre("block: [>>] work ---------- 0/2 starting / restarts 0/2   elapsed 0s   "
                          "Ctrl-C: stop"));
}

TEST(ABlock, ShowsTroubleAndIsNoWiderThanTheTerminal) {
  Followed followed(plan_with_block());
  story::PodFacts bad = Followed::facts(0, "Pending");
  bad.trouble = "CrashLoopBackOff: a long story";
  followed.set(kStarting).pod(bad).tell(event::Surroundings{.width = 20}).settle();
  EXPECT_EQ(followed.out.back(),
            "block: [>>] work -------... / work-0-0: CrashLo... / restarts 0/2   el...");
}

TEST(ABlock, IsDrawnAnewEverySecond) {
  Followed followed(plan_with_block());
  followed.running().begin();
  followed.out.clear();
  followed.after(2);
  EXPECT_THAT(followed.out, ElementsAre(HasSubstr("elapsed 1s"), HasSubstr("elapsed 2s")));
}

TEST(ABlock, SaysThatItStops) {
  Followed followed(plan_with_block());
  followed.running().tell(event::StopRequested{}).settle();
  EXPECT_THAT(followed.out, ElementsAre(HasSubstr("stopping   Ctrl-C: kill")));
}

TEST(ABlock, LeavesItsLastPictureBehind) {
  Followed followed(plan_with_block());
  followed.running().pods("Succeeded").logs_end().set(kEndedWell);
  EXPECT_THAT(
      TextLines(followed.out.end() - 6, followed.out.end()),
      ElementsAre("no block", "[ok] work ########## 2/2 done 0s", "restarts 0/2   elapsed 0s",
                  "jobset train: jobset completed successfully", "no block", "end: 0"));
}

}  // namespace follow_state_test
}  // namespace muster::cli
