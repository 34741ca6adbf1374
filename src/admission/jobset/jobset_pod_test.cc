// Exclusive placement: where the pods of a JobSet may go (spec: jobset 2.4 to 2.6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace jobset_pod_test {

using json::IsJson;
using testing::HasSubstr;

constexpr std::string_view kTopology = "rack";

struct PodText {
  std::string_view index = "0";
  std::string_view name = "js-workers-0-0-abcde";
  std::string_view owner = "owner-1";
  std::string_view exclusive = R"("alpha.jobset.sigs.k8s.io/exclusive-topology": "rack",)";
  std::string_view annotations = "";  // more of them, each followed by a comma
  std::string_view spec = "";         // more of it, each followed by a comma
  std::string_view status = "{}";
  std::string_view metadata = "";  // more of it, each followed by a comma
};

std::string pod(const PodText& text) {
  return fmt::format(
      R"({{"metadata": {{"name": "{}", {}
           "labels": {{"jobset.sigs.k8s.io/jobset-name": "js",
                       "jobset.sigs.k8s.io/replicatedjob-name": "workers",
                       "jobset.sigs.k8s.io/job-index": "0", "jobset.sigs.k8s.io/job-key": "key"}},
           "annotations": {{{} {} "jobset.sigs.k8s.io/jobset-name": "js",
                            "batch.kubernetes.io/job-completion-index": "{}"}},
           "ownerReferences": [{{"apiVersion": "batch/v1", "kind": "Job", "name": "js-workers-0",
                                 "uid": "{}", "controller": true}}]}},
          "spec": {{{} "containers": [{{"name": "c", "image": "i"}}]}}, "status": {}}})",
      text.name, text.metadata, text.exclusive, text.annotations, text.index, text.owner, text.spec,
      text.status);
}

constexpr PodText kFollower = {.index = "1", .name = "js-workers-0-1-fghij"};
constexpr std::string_view kBound = R"("nodeName": "n",)";
constexpr std::string_view kSucceeded = R"({"phase": "Succeeded"})";

// A node in rack r1, and leaders as a test wants them.
struct Cluster {
  Cluster() { world.add("v1", "Node", R"({"metadata": {"name": "n", "labels": {"rack": "r1"}}})"); }
  Outcome create(const PodText& text) const { return world.create("v1", "Pod", pod(text)); }
  World world;
};

TEST(ExclusivePlacement, ALeaderStaysWithItsJobAndAwayFromOthers) {
  const Cluster cluster;
  const Outcome leader = cluster.create({});
  ASSERT_EQ(leader.message(), "");
  EXPECT_THAT(leader.at({"spec", "affinity"}), IsJson(R"({
      "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
          "labelSelector": {"matchExpressions": [
              {"key": "jobset.sigs.k8s.io/job-key", "operator": "In", "values": ["key"]}]},
          "topologyKey": "rack", "namespaceSelector": {}}]},
      "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
          "labelSelector": {"matchExpressions": [
              {"key": "jobset.sigs.k8s.io/job-key", "operator": "Exists"},
              {"key": "jobset.sigs.k8s.io/job-key", "operator": "NotIn", "values": ["key"]},
              {"key": "jobset.sigs.k8s.io/priority", "operator": "In", "values": ["0"]}]},
          "topologyKey": "rack", "namespaceSelector": {}}]}})"));
}

TEST(ExclusivePlacement, KeepsTheUsersOwnTerms) {
  const Cluster cluster;
  const Outcome leader = cluster.create(
      {.spec = R"("affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                  [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}]}},)"});
  ASSERT_EQ(leader.message(), "");
  const json::Value terms = leader.at(
      {"spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_EQ(terms.item(0).get("topologyKey").as_string(), "zone");
  EXPECT_EQ(terms.item(1).get("topologyKey").as_string(), kTopology);
}

TEST(ExclusivePlacement, IsForPodsThatAskForItHere) {
  const Cluster cluster;
  const Outcome plain = cluster.create({.index = "1", .exclusive = ""});
  ASSERT_EQ(plain.message(), "");
  EXPECT_TRUE(plain.at({"metadata", "labels"}).has("jobset.sigs.k8s.io/priority"));
  EXPECT_FALSE(plain.at({"spec"}).has("affinity"));
  const Outcome by_selector = cluster.create(
      {.index = "1", .annotations = R"("alpha.jobset.sigs.k8s.io/node-selector": "true",)"});
  ASSERT_EQ(by_selector.message(), "");
  EXPECT_FALSE(by_selector.at({"metadata", "labels"}).has("jobset.sigs.k8s.io/priority"));
}

TEST(ExclusivePlacement, AFollowerGoesWhereItsLeaderIs) {
  Cluster cluster;
  cluster.world.add("v1", "Pod", pod({.spec = kBound}));
  const Outcome follower = cluster.create(kFollower);
  ASSERT_EQ(follower.message(), "");
  EXPECT_THAT(follower.at({"spec", "nodeSelector"}), IsJson(R"({"rack": "r1"})"));
  EXPECT_FALSE(follower.at({"spec"}).has("affinity"));
}

TEST(ExclusivePlacement, AFollowerWaitsForItsLeader) {
  constexpr std::string_view kNone =
      "expected 1 leader pod (js-workers-0-0), but got 0. this is an expected, transient error";
  const struct {
    const char* why;
    std::vector<PodText> leaders;
    std::string_view refusal;
  } kRows[] = {
      {"there is none", {}, kNone},
      {"it is not bound",
       {{}},
       "leader pod not yet scheduled, not creating follower pod. this is an expected, transient "
       "error"},
      {"it is going",
       {{.spec = kBound, .metadata = R"("deletionTimestamp": "2026-01-01T00:00:00Z",)"}},
       kNone},
      {"it has failed", {{.spec = kBound, .status = R"({"phase": "Failed"})"}}, kNone},
      {"it has succeeded in the attempt before",
       {{.owner = "owner-0", .spec = kBound, .status = kSucceeded}},
       kNone},
      {"it is another Job's", {{.name = "js-workers-0-0-x-abcde", .spec = kBound}}, kNone},
      {"there are two",
       {{.spec = kBound}, {.name = "js-workers-0-0-zzzzz", .spec = kBound}},
       "expected 1 leader pod (js-workers-0-0), but got 2. this is an expected, transient error"},
      {"it is of the attempt before",
       {{.owner = "owner-0", .spec = kBound}},
       "follower pod owner UID (owner-1) != leader pod owner UID (owner-0)"},
      {"its node is gone", {{.spec = R"("nodeName": "lost",)"}}, "nodes \"lost\" not found"},
  };
  for (const auto& row : kRows) {
    Cluster cluster;
    for (const PodText& leader : row.leaders) cluster.world.add("v1", "Pod", pod(leader));
    const Outcome follower = cluster.create(kFollower);
    ASSERT_TRUE(follower.error) << row.why;
    EXPECT_EQ(follower.error->code, Code::kForbidden) << row.why;
    EXPECT_EQ(follower.message(), row.refusal) << row.why;
  }
}

// Nobody replaces such a leader: a follower that waited for another one would wait for ever.
TEST(ExclusivePlacement, AFollowerThatIsMadeAfterTheEndOfItsLeaderGoesWhereThatWas) {
  Cluster cluster;
  cluster.world.add("v1", "Pod", pod({.spec = kBound, .status = kSucceeded}));
  cluster.world.add(
      "v1", "Pod", pod({.name = "js-workers-0-0-older", .owner = "owner-0", .status = kSucceeded}));
  const Outcome follower = cluster.create(kFollower);
  ASSERT_EQ(follower.message(), "");
  EXPECT_THAT(follower.at({"spec", "nodeSelector"}), IsJson(R"({"rack": "r1"})"));
}

TEST(ExclusivePlacement, NeedsNodesWithTheTopology) {
  Cluster cluster;
  cluster.world.add("v1", "Node", R"({"metadata": {"name": "bare"}})");
  cluster.world.add("v1", "Pod", pod({.spec = R"("nodeName": "bare",)"}));
  EXPECT_EQ(cluster.create(kFollower).message(), "node does not have topology label: rack");
}

TEST(Ranks, AreTheFirstOfTheJobAndTheIndex) {
  const World world;
  const auto rank = [&](std::string_view offset, std::string_view index) {
    const std::string annotation =
        offset.empty() ? "" : fmt::format(R"("muster.dev/rank-offset": "{}",)", offset);
    const Outcome made = world.create(
        "v1", "Pod", pod({.index = index, .exclusive = "", .annotations = annotation}));
    EXPECT_EQ(made.message(), "");
    return std::string(made.at({"metadata", "annotations", "muster.dev/rank"}).as_string());
  };
  EXPECT_EQ(rank("8", "3"), "11");
  EXPECT_EQ(rank("0", "0"), "0");
  EXPECT_EQ(rank("", "3"), "") << "nobody asked";
  EXPECT_EQ(rank("eight", "3"), "");
  EXPECT_EQ(rank("9223372036854775807", "1"), "") << "there is no such number";
}

}  // namespace jobset_pod_test
}  // namespace muster::admission
