#include "scheduler/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/pod_classes.h"
#include "scheduler/testing.h"

namespace muster::scheduler {
namespace walk_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kPlenty = 1'000;

class WalkTest : public ::testing::Test {
 protected:
  // Waits, and asks for so many CPUs.
  void waits(std::string_view name, int cpus) {
    Pod pod = testing::pod(fmt::format(
        R"({{"name":"{}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}})",
        name, cpus));
    pod.cls = classes_.enter(pod);
    pods_.push_back(std::move(pod));
    line_.join(pods_.back());
  }
  WalkTurn walk(Walk walk = {}, std::size_t max_looks = kPlenty) {
    return walk_on(line_, cluster_, std::move(walk), questions_, max_looks);
  }
  static std::vector<std::string> given(const WalkTurn& turn) {
    std::vector<std::string> texts;
    for (const auto& [pod, node] : turn.given) texts.push_back(pod->name + ": " + node);
    return texts;
  }
  static std::vector<std::string> refused(const WalkTurn& turn) {
    std::vector<std::string> names;
    for (const auto& [pod, why] : turn.refused) names.push_back(pod->name);
    return names;
  }

  Cluster cluster_;
  WaitingLine line_;
  PodClasses classes_;
  std::deque<Pod> pods_;
  WalkQuestions questions_{.goes = [](const Pod& pod) { return pod.name.starts_with("going"); },
                           .leaves_reserve = [](const Pod&) { return false; }};
};

TEST_F(WalkTest, WhatIsGivenCountsForThoseBehind) {
  cluster_.put_node(testing::node("n1"));  // 4 CPUs each
  cluster_.put_node(testing::node("n2"));
  waits("a", 3);
  waits("b", 3);
  waits("c", 3);
  const WalkTurn turn = walk();
  EXPECT_THAT(given(turn), ElementsAre("a: n1", "b: n2"));
  EXPECT_THAT(refused(turn), ElementsAre("c"));
  EXPECT_FALSE(turn.walk.next);
  EXPECT_EQ(turn.fresh_left, 0u);
}

TEST_F(WalkTest, TheStateIsAsBeforeAndGivesTheSameAnswer) {
  cluster_.put_node(testing::node("n1"));
  waits("a", 3);
  waits("b", 3);
  const WalkTurn first = walk();
  EXPECT_THAT(cluster_.find("n1")->pods, IsEmpty());
  EXPECT_EQ(cluster_.find("n1")->used, Resources{});
  EXPECT_EQ(line_.fresh().size(), 2u);
  const WalkTurn second = walk();
  EXPECT_EQ(given(first), given(second));
  EXPECT_EQ(refused(first), refused(second));
}

TEST_F(WalkTest, ItGoesOnWhereTheLastTurnEnded) {
  cluster_.put_node(testing::node("n1"));
  for (const char* name : {"a", "b", "c"}) waits(name, 1);
  WalkTurn turn = walk({}, 1);
  EXPECT_THAT(given(turn), ElementsAre("a: n1"));
  ASSERT_TRUE(turn.walk.next);
  EXPECT_EQ(turn.fresh_left, 2u);
  line_.leave(pods_[0]);
  turn = walk(std::move(turn.walk), 1);
  EXPECT_THAT(given(turn), ElementsAre("b: n1"));
}

TEST_F(WalkTest, PodsThatGoTakeNothing) {
  cluster_.put_node(testing::node("n1"));
  waits("going", 4);
  waits("stays", 4);
  const WalkTurn turn = walk();
  EXPECT_THAT(turn.going, ElementsAre(&pods_[0]));
  EXPECT_THAT(given(turn), ElementsAre("stays: n1"));
}

TEST_F(WalkTest, PodsThatWereRefusedLookAtBetterNodesOnly) {
  cluster_.put_node(testing::node("n1"));
  cluster_.put_node(testing::node("n2"));
  waits("a", 1);
  line_.refused(pods_[0]);
  EXPECT_THAT(given(walk()), IsEmpty());
  EXPECT_THAT(given(walk({.nodes = {"n2"}, .next = {}, .refused = {}})), ElementsAre("a: n2"));
}

TEST_F(WalkTest, ItEndsWhenAllThatAreLeftWereRefused) {
  cluster_.put_node(testing::node("n1"));
  waits("a-small", 1);
  for (int i = 0; i < 300; ++i) waits(fmt::format("big-{}", i), 4);
  for (const Pod& pod : pods_) line_.refused(pod);
  const WalkTurn turn = walk({.nodes = {"n1"}, .next = {}, .refused = {}});
  EXPECT_THAT(given(turn), ElementsAre("a-small: n1"));
  EXPECT_LT(turn.looks, 10u);
}

}  // namespace walk_test
}  // namespace muster::scheduler
