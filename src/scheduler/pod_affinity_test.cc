// Affinity between pods: near what, away from whom, over which topology.
#include <gtest/gtest.h>

#include "scheduler/place.h"
#include "scheduler/testing.h"

namespace muster::scheduler {
namespace pod_affinity_test {

using testing::node;
using testing::World;

constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kRack = "rack";
constexpr std::string_view kNotNear =
    "0/3 nodes are available: 3 node(s) didn't match pod "
    "affinity rules.";

std::string machine(std::string_view name, std::string_view rack) {
  return fmt::format(R"({{"labels":{{"kubernetes.io/hostname":"{}","rack":"{}"}}}})", name, rack);
}

std::string term(std::string_view selector, std::string_view key, std::string_view more = "") {
  return fmt::format(R"({{"labelSelector":{},"topologyKey":"{}"{}}})", selector, key, more);
}
constexpr std::string_view kWeb = R"({"matchLabels":{"app":"web"}})";

// `kind` is podAffinity or podAntiAffinity.
std::string affinity(std::string_view kind, std::string_view terms,
                     std::string_view labels = "{}") {
  return fmt::format(R"({{"labels":{},"affinity":{{"{}":{{
      "requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}}}})",
                     labels, kind, terms);
}
std::string near(std::string_view terms, std::string_view labels = "{}") {
  return affinity("podAffinity", terms, labels);
}
std::string apart(std::string_view terms, std::string_view labels = "{}") {
  return affinity("podAntiAffinity", terms, labels);
}

// Two racks: a and b in r1, c in r2. A web server runs on a.
class PodAffinity : public ::testing::Test {
 protected:
  PodAffinity() {
    world_.with(node("a", machine("a", "r1")))
        .with(node("b", machine("b", "r1")))
        .with(node("c", machine("c", "r2")))
        .running("a", R"({"labels":{"app":"web"}})");
  }
  World world_;
};

TEST_F(PodAffinity, KeepsAPodOnTheNodeOfItsCompany) {
  EXPECT_EQ(world_.place(near(term(kWeb, kHost))).node, "a");
}

TEST_F(PodAffinity, OverARackTheEmptierNodeOfTheRackIsTaken) {
  EXPECT_EQ(world_.place(near(term(kWeb, kRack))).node, "b");
}

TEST_F(PodAffinity, WithoutCompanyThereIsNoPlace) {
  EXPECT_EQ(world_.refusal(near(term(R"({"matchLabels":{"app":"db"}})", kHost))), kNotNear);
}

TEST_F(PodAffinity, TheFirstOfASeriesMayStartAnywhere) {
  const std::string db = R"({"matchLabels":{"app":"db"}})";
  EXPECT_EQ(world_.place(near(term(db, kHost), R"({"app":"db"})")).node, "b");
}

TEST_F(PodAffinity, TheFirstOfASeriesStillNeedsTheTopology) {
  const std::string db = R"({"matchLabels":{"app":"db"}})";
  EXPECT_EQ(world_.refusal(near(term(db, "zone"), R"({"app":"db"})")), kNotNear);
}

TEST_F(PodAffinity, CompanyInAnotherNamespaceIsNone) {
  EXPECT_EQ(world_.refusal(near(term(kWeb, kHost, R"(,"namespaces":["other"])"))), kNotNear);
}

TEST_F(PodAffinity, AnEmptyNamespaceSelectorMeansAllNamespaces) {
  world_.running("c", R"({"namespace":"other","labels":{"app":"db"}})");
  const std::string db = R"({"matchLabels":{"app":"db"}})";
  EXPECT_EQ(world_.place(near(term(db, kHost, R"(,"namespaceSelector":{})"))).node, "c");
}

TEST_F(PodAffinity, NamespacesAreSelectedByTheirLabels) {
  world_.running("c", R"({"namespace":"other","labels":{"app":"db"}})");
  const std::string wish = near(term(R"({"matchLabels":{"app":"db"}})", kHost,
                                     R"(,"namespaceSelector":{"matchLabels":{"team":"x"}})"));
  EXPECT_EQ(world_.refusal(wish), kNotNear);
  world_.cluster.put_namespace("other", {{"team", "x"}});
  EXPECT_EQ(world_.place(wish).node, "c");
}

TEST_F(PodAffinity, OneCompanionHasToSatisfyAllTerms) {
  world_.running("c", R"({"labels":{"tier":"front"}})");
  const std::string front = R"({"matchLabels":{"tier":"front"}})";
  EXPECT_EQ(world_.refusal(near(term(kWeb, kHost) + "," + term(front, kHost))), kNotNear);
  world_.running("b", R"({"labels":{"tier":"front","app":"web"}})");
  EXPECT_EQ(world_.place(near(term(kWeb, kHost) + "," + term(front, kHost))).node, "b");
}

TEST_F(PodAffinity, AntiAffinityKeepsOffTheNode) {
  EXPECT_EQ(world_.place(apart(term(kWeb, kHost))).node, "b");
}

TEST_F(PodAffinity, AntiAffinityKeepsOffTheRack) {
  EXPECT_EQ(world_.place(apart(term(kWeb, kRack))).node, "c");
}

TEST_F(PodAffinity, ANodeOutsideTheTopologyIsNobodysNeighbour) {
  world_.with(node("d"));
  EXPECT_EQ(world_.place(apart(term(kWeb, kRack))).node, "c");
  world_.running("c", R"({"labels":{"app":"web"}})");
  EXPECT_EQ(world_.place(apart(term(kWeb, kRack))).node, "d");
}

TEST_F(PodAffinity, PodsThatRunKeepOthersAway) {
  world_.running("c", apart(term(R"({"matchLabels":{"app":"db"}})", kRack)));
  EXPECT_EQ(world_.place(R"({"labels":{"app":"db"},"nodeSelector":{"rack":"r2"}})").refusal,
            "0/3 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules, "
            "2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
            "preemption: 0/3 nodes are "
            "available: 1 No preemption victims found for incoming pod, 2 Preemption is not "
            "helpful for scheduling.");
  EXPECT_EQ(world_.place(R"({"labels":{"app":"x"},"nodeSelector":{"rack":"r2"}})").node, "c");
}

TEST_F(PodAffinity, ATermWithoutASelectorMeansNobody) {
  EXPECT_EQ(world_.place(apart(R"({"topologyKey":"kubernetes.io/hostname"})")).node, "b");
  EXPECT_EQ(world_.refusal(near(R"({"topologyKey":"kubernetes.io/hostname"})")), kNotNear);
}

TEST_F(PodAffinity, PreferencesCountPods) {
  const auto prefer = [](std::string_view kind) {
    return fmt::format(R"({{"affinity":{{"{}":{{"preferredDuringSchedulingIgnoredDuringExecution":[
        {{"weight":10,"podAffinityTerm":{}}}]}}}}}})",
                       kind, term(kWeb, kHost));
  };
  EXPECT_EQ(world_.place(prefer("podAffinity")).node, "a");
  EXPECT_EQ(world_.place(prefer("podAntiAffinity")).node, "b");
}

// Exclusive placement of JobSets: a leader keeps its Job together and all others out of the rack.
std::string leader(std::string_view job) {
  return fmt::format(
      R"({{"labels":{{"job-key":"{0}","priority":"0"}},"affinity":{{
        "podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"rack",
          "namespaceSelector":{{}},"labelSelector":{{"matchExpressions":[
            {{"key":"job-key","operator":"In","values":["{0}"]}}]}}}}]}},
        "podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"rack",
          "namespaceSelector":{{}},"labelSelector":{{"matchExpressions":[
            {{"key":"job-key","operator":"Exists"}},
            {{"key":"job-key","operator":"NotIn","values":["{0}"]}},
            {{"key":"priority","operator":"In","values":["0"]}}]}}}}]}}}}}})",
      job);
}

TEST_F(PodAffinity, ARackIsExclusiveToOneJob) {
  EXPECT_EQ(world_.place(leader("one")).node, "b") << "a pod of no Job is no hindrance";
  world_.running("b", leader("one"));
  EXPECT_EQ(world_.place(leader("two")).node, "c");
  world_.running("c", leader("two"));
  EXPECT_EQ(world_.refusal(leader("three")),
            "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.");
  EXPECT_EQ(world_.place(leader("one")).node, "a") << "its own Job may join it";
}

TEST(Cluster, ForgetsWhatPodsTookWhenTheyGo) {
  World world;
  world.with(node("a", machine("a", "r1")));
  const Pod guest = testing::pod(apart(term(kWeb, kRack)));
  const Room* const room = world.cluster.find("a");
  const Resources before = room->used;
  world.cluster.add_pod(guest, "a");
  EXPECT_TRUE(world.cluster.has_topologies());
  world.cluster.remove_pod(guest, "a");
  EXPECT_EQ(room->used, before);
  EXPECT_TRUE(room->pods.empty() && room->repelling.empty());
  EXPECT_FALSE(world.cluster.has_topologies());
  EXPECT_TRUE(world.cluster.repelling_keys().empty());
}

TEST(Cluster, PodsMayComeBeforeTheirNodeAndStayAfterIt) {
  World world;
  world.running("a", apart(term(kWeb, kRack)));
  EXPECT_TRUE(world.cluster.nodes().empty());
  world.with(node("a", machine("a", "r1"))).with(node("b", machine("b", "r1")));
  EXPECT_EQ(world.refusal(R"({"labels":{"app":"web"}})"),
            "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.");
  world.cluster.remove_node("a");
  EXPECT_EQ(world.place(R"({"labels":{"app":"web"}})").node, "b");
  world.with(node("a", machine("a", "r2")));
  EXPECT_EQ(world.place(R"({"labels":{"app":"web"}})").node, "b") << "it has moved to another rack";
}

}  // namespace pod_affinity_test
}  // namespace muster::scheduler
