#include "scheduler/scheduler.h"

#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace scheduler_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of a pod that asks for more than the only node has.
constexpr std::string_view kRefused =
    R"(,"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
          "message":"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."}])";

TEST_F(SchedulerTest, APodIsBoundAndPeopleAreTold) {
  node("a");
  pod("p", "1");
  EXPECT_THAT(writes(), IsEmpty()) << "half the cluster is not known yet";
  complete();
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  EXPECT_EQ(target(), "a");
  accept();
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(told_, ElementsAre("Scheduled: Successfully assigned d/p to a"));
}

TEST_F(SchedulerTest, ARefusalIsAConditionAndAnEvent) {
  node("a");
  complete();
  pod("p", "5");
  ASSERT_THAT(writes(), ElementsAre(status("p")));
  json::Arena arena;
  const json::Value condition =
      server_.asked.front().json(arena).get({"status", "conditions"}).item(0);
  const std::string why =
      "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 "
      "nodes are available: "
      "1 Preemption is not helpful for scheduling.";
  EXPECT_EQ(condition.get("type").as_string(), "PodScheduled");
  EXPECT_EQ(condition.get("status").as_string(), "False");
  EXPECT_EQ(condition.get("reason").as_string(), "Unschedulable");
  EXPECT_EQ(condition.get("message").as_string(), why);
  server_.answer_object("p", 1);
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(told_, ElementsAre("FailedScheduling: " + why));
}

TEST_F(SchedulerTest, TheSameConditionIsNotWrittenAgain) {
  node("a");
  complete();
  pod("p", "5", "", "ADDED", kRefused);
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(SchedulerTest, WhoWaitsGoesWhenAPodEnds) {
  node("a");
  pod("old", "3", R"("nodeName":"a",)");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(status("p")));
  server_.answer_object("p", 1);
  pod("old", "3", R"("nodeName":"a",)", "MODIFIED", R"(,"phase":"Succeeded")");
  EXPECT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(SchedulerTest, WhoWaitsGoesToANewNode) {
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(status("p")));
  server_.answer_object("p", 1);
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(told_, ElementsAre("FailedScheduling: no nodes available to schedule pods"));
  node("a");
  EXPECT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(SchedulerTest, WhoWaitsGoesWhenATaintIsTakenAway) {
  node("a", "4", R"("taints":[{"key":"x","effect":"NoSchedule"}])");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(status("p")));
  server_.answer_object("p", 1);
  node("a", "4", "", "MODIFIED");
  EXPECT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(SchedulerTest, AHeartbeatWakesNobody) {
  node("a");
  complete();
  pod("p", "5");
  server_.settle();
  server_.answer_object("p", 1);
  EXPECT_THAT(writes(), IsEmpty());
  node("a", "4", "", "MODIFIED");
  EXPECT_TRUE(controller_.idle());
  EXPECT_THAT(writes(), IsEmpty());
}

TEST_F(SchedulerTest, TheHighestPriorityGoesFirstThenTheOldest) {
  node("a", "1");
  pod("a-young", "1");
  pod("b-urgent", "1", R"("priority":10,)");
  complete();
  EXPECT_THAT(writes(), ElementsAre(binding("b-urgent"), status("a-young")));
}

TEST_F(SchedulerTest, OnlyOwnPodsWithoutGatesAreLookedAt) {
  node("a");
  complete();
  pod("other", "1", R"("schedulerName":"another",)");
  pod("gated", "1", R"("schedulingGates":[{"name":"wait"}],)");
  EXPECT_THAT(writes(), IsEmpty());
  pod("gated", "1", "", "MODIFIED");
  EXPECT_THAT(writes(), ElementsAre(binding("gated")));
}

TEST_F(SchedulerTest, WhatIsSaidOfNodesIsRenewedSoonAfterTheyChanged) {
  node("a");
  complete();
  pod("p", "5");
  ASSERT_THAT(writes(), ElementsAre(status("p")));
  server_.answer_object("p", 1);
  node("b");  // does not help
  EXPECT_THAT(writes(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(writes(), ElementsAre(status("p"))) << "there are two nodes now";
}

TEST_F(SchedulerTest, EverybodyIsLookedAtAnewNowAndThen) {
  node("a");
  complete();
  pod("p", "5", "", "ADDED", kRefused);
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_EQ(told_.size(), 1u);
  server_.pass_time(seconds(300));
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_EQ(told_.size(), 2u) << "it is still so";
}

TEST_F(SchedulerTest, ARunawaySetLetsAnotherOneGoFirstOnceItHasWhatCouldRunAtOnce) {
  node("a");  // 4 CPUs
  complete();
  for (int i = 0; i < 8; ++i) member("big", fmt::format("big-{}", i), "1");
  EXPECT_THAT(bound(), ElementsAre("big-0", "big-1", "big-2", "big-3"));
  member("small", "small-0", "1");
  EXPECT_THAT(bound(), IsEmpty());
  gone("big-0");
  EXPECT_THAT(bound(), ElementsAre("small-0")) << "though four others are older";
  gone("big-1");
  EXPECT_THAT(bound(), ElementsAre("big-4"));
}

TEST_F(SchedulerTest, ASetThatCanRunAsAWholeKeepsItsPlaceInTheOrder) {
  node("a");
  pod("old", "4", R"("nodeName":"a",)");
  complete();
  for (int i = 0; i < 4; ++i) member("first", fmt::format("x-{}", i), "1");
  for (int i = 0; i < 4; ++i) member("second", fmt::format("y-{}", i), "1");
  EXPECT_THAT(bound(), IsEmpty());
  gone("old");
  EXPECT_THAT(bound(), ElementsAre("x-0", "x-1", "x-2", "x-3")) << "or both would have a half";
}

TEST_F(SchedulerTest, TheOrderFollowsTheNodes) {
  for (int i = 0; i < 6; ++i) member("big", fmt::format("big-{}", i), "1");
  member("small", "small-0", "1");
  complete();
  EXPECT_THAT(bound(), IsEmpty());
  node("a");
  EXPECT_THAT(bound(), ElementsAre("big-0", "big-1", "big-2", "big-3"));
  gone("big-0");
  EXPECT_THAT(bound(), ElementsAre("small-0"));
}

TEST_F(SchedulerTest, ASetOfMorePodsThanCanRunLeavesSomePlacesToOthers) {
  node_of_forty_places();
  complete();
  for (int i = 0; i < 40; ++i) member("big", fmt::format("big-{:02}", i), "0");
  EXPECT_EQ(bound().size(), 38u) << "it may still grow";
  member("small", "small-0", "0");
  EXPECT_THAT(bound(), ElementsAre("small-0"));
  gone("small-0");
  server_.pass_time(seconds(2));
  EXPECT_EQ(bound().size(), 2u) << "it fits as a whole";
  gone("big-00");
  member("big", "big-40", "0");
  member("big", "big-41", "0");
  server_.pass_time(seconds(60));
  EXPECT_THAT(bound(), IsEmpty()) << "it never fits now";
  member("small", "small-1", "0");
  EXPECT_THAT(bound(), ElementsAre("small-1"));
}

TEST_F(SchedulerTest, ASetThatGrewMeanwhileIsOfferedThePlacesForOthersOnceMore) {
  node_of_forty_places();
  complete();
  for (int i = 0; i < 39; ++i) member("big", fmt::format("big-{:02}", i), "0");
  EXPECT_EQ(bound().size(), 38u);
  server_.pass_time(seconds(1));
  member("big", "big-39", "0");
  server_.pass_time(seconds(1));
  EXPECT_THAT(bound(), IsEmpty()) << "it grew a second ago";
  server_.pass_time(seconds(1));
  EXPECT_EQ(bound().size(), 2u);
}

TEST_F(SchedulerTest, APodThatGoesCostsOneLookForAllThatAskForTheSame) {
  node("a");
  pod("little", "1m", R"("nodeName":"a",)");
  pod("large", "4", R"("nodeName":"a",)");
  complete();
  for (int i = 0; i < 300; ++i) member("big", fmt::format("big-{}", i), "2");
  EXPECT_THAT(bound(), IsEmpty());
  const std::uint64_t before = controller_.looks();
  gone("little");
  EXPECT_THAT(bound(), IsEmpty());
  EXPECT_GT(controller_.looks(), before);
  EXPECT_LT(controller_.looks(), before + 10);
}

TEST_F(SchedulerTest, PodsOfAJobThatStaysFollowEachOther) {
  begin_with_a_job();
  gone("p0");
  EXPECT_THAT(bound(), ElementsAre("p4"));
}

TEST_F(SchedulerTest, PodsWhoseJobIsGoneAreGivenNoNode) {
  begin_with_a_job();
  job("DELETED");
  gone("p0");
  EXPECT_THAT(bound(), IsEmpty()) << "they would be stopped as soon as they are reached";
  const std::uint64_t before = controller_.looks();
  gone("p1");
  EXPECT_THAT(bound(), IsEmpty());
  EXPECT_EQ(controller_.looks(), before) << "they have left the line";
  pod("other", "1");
  EXPECT_THAT(bound(), ElementsAre("other"));
}

TEST_F(SchedulerTest, PodsWhoseJobSetIsGoneOrGoesInTheForegroundAreGivenNoNode) {
  begin_with_a_job();
  job_set("MODIFIED", R"(,"deletionTimestamp":"2027-01-01T00:00:01Z",
                          "finalizers":["foregroundDeletion"])");
  gone("p0");
  EXPECT_THAT(bound(), IsEmpty());
  job_set("DELETED");
  child("p6");
  EXPECT_THAT(bound(), IsEmpty());
}

TEST_F(SchedulerTest, PodsWhoseJobSetIsHeldByOthersOrLeavesThemToThemselvesAreGivenNodes) {
  begin_with_a_job();
  job_set("MODIFIED", R"(,"deletionTimestamp":"2027-01-01T00:00:01Z","finalizers":["orphan"])");
  gone("p0");
  EXPECT_THAT(bound(), ElementsAre("p4"));
  job("DELETED");
  gone("p1");
  EXPECT_THAT(bound(), IsEmpty());
  pod("p5", "1", "", "MODIFIED");  // it has lost its owner
  EXPECT_THAT(bound(), ElementsAre("p5"));
}

TEST_F(SchedulerTest, ALongWalkTakesSeveralTurnsAndForgetsNobody) {
  constexpr int kMany = 250;  // pods times nodes are more looks than one turn may take
  for (int i = 0; i < kMany; ++i) node(fmt::format("n{}", i), "1");
  for (int i = 0; i < kMany; ++i) pod(fmt::format("p{}", i), "1");
  complete();
  std::set<std::string> nodes;
  while (!writes().empty()) {
    nodes.insert(target());
    accept();
  }
  EXPECT_EQ(nodes.size(), static_cast<std::size_t>(kMany)) << "each has one to itself";
}

}  // namespace scheduler_test
}  // namespace muster::scheduler
