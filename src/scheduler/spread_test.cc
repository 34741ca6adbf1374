#include "scheduler/spread.h"

#include <gtest/gtest.h>

#include "scheduler/testing.h"

namespace muster::scheduler {
namespace spread_test {

using testing::node;
using testing::World;

constexpr std::string_view kWeb = R"({"labels":{"app":"web"}})";

std::string zone(int number) { return fmt::format(R"({{"labels":{{"zone":"z{}"}}}})", number); }

std::string spread(std::string_view more, std::string_view pod = "") {
  return fmt::format(R"({{"labels":{{"app":"web"}},{}"topologySpreadConstraints":[{{
      "topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
      "labelSelector":{{"matchLabels":{{"app":"web"}}}},{}}}]}})",
                     pod, more);
}

// Zone 1 has two web servers, zone 2 has one, zone 3 none; nothing counts but how many.
class SpreadTest : public ::testing::Test {
 protected:
  SpreadTest() {
    world_.with(node("a", zone(1))).with(node("b", zone(2))).with(node("c", zone(3)));
    world_.running("a", kWeb).running("a", kWeb).running("b", kWeb);
  }
  // The nodes that take the pod, as letters.
  std::string takers(const std::string& asks) {
    std::string out;
    for (const std::string name : {"a", "b", "c"}) {
      const Pod pod = testing::pod(asks);
      world_.cluster.use_topologies(pod.wishes);
      const std::vector<const Room*> one{world_.cluster.find(name)};
      if (!place_among(world_.cluster, pod, one).empty()) out += name;
      world_.cluster.drop_topologies(pod.wishes);
    }
    return out;
  }
  World world_;
};

TEST_F(SpreadTest, OnlyTheEmptiestZoneTakesTheNext) {
  EXPECT_EQ(takers(spread(R"("maxSkew":1)")), "c");
}

TEST_F(SpreadTest, ALargerSkewAllowsMore) {
  EXPECT_EQ(takers(spread(R"("maxSkew":2)")), "bc");
  EXPECT_EQ(takers(spread(R"("maxSkew":3)")), "abc");
}

TEST_F(SpreadTest, WhenAllAreEqualAnyWillDo) {
  world_.running("b", kWeb).running("c", kWeb).running("c", kWeb);
  EXPECT_EQ(takers(spread(R"("maxSkew":1)")), "abc");
}

TEST_F(SpreadTest, PodsOfOtherNamespacesAreNotCounted) {
  EXPECT_EQ(takers(spread(R"("maxSkew":1)", R"("namespace":"other",)")), "abc");
}

TEST_F(SpreadTest, WithTooFewDomainsTheEmptiestCountsAsEmpty) {
  world_.running("c", kWeb);
  EXPECT_EQ(takers(spread(R"("maxSkew":1)")), "bc");
  EXPECT_EQ(takers(spread(R"("maxSkew":1,"minDomains":4)")), "");
}

TEST_F(SpreadTest, ZonesThatThePodMayNotGoToDoNotCount) {
  const std::string not_c =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
         "nodeSelectorTerms":[{"matchExpressions":[
           {"key":"zone","operator":"NotIn","values":["z3"]}]}]}}},)";
  EXPECT_EQ(takers(spread(R"("maxSkew":1)", not_c)), "b");
  EXPECT_EQ(takers(spread(R"("maxSkew":1,"nodeAffinityPolicy":"Ignore")", not_c)), "");
}

TEST_F(SpreadTest, ANodeOutsideOfTheTopologyIsRefused) {
  World world;
  world.with(node("d"));
  EXPECT_EQ(world.refusal(spread(R"("maxSkew":1)")),
            "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints "
            "(missing required label).");
}

TEST_F(SpreadTest, APodThatIsNotCountedMayJoinAnyZoneWithinTheSkew) {
  EXPECT_EQ(takers(R"({"labels":{"app":"db"},"topologySpreadConstraints":[{"maxSkew":1,
      "topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
      "labelSelector":{"matchLabels":{"app":"web"}}}]})"),
            "bc");
}

TEST_F(SpreadTest, WhatIsOnlyWishedForRefusesNobody) {
  EXPECT_EQ(takers(R"({"labels":{"app":"web"},"topologySpreadConstraints":[{"maxSkew":1,
      "topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway",
      "labelSelector":{"matchLabels":{"app":"web"}}}]})"),
            "abc");
}

}  // namespace spread_test
}  // namespace muster::scheduler
