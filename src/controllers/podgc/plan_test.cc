#include "controllers/podgc/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "controllers/podgc/missing_nodes.h"
#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::podgc {
namespace plan_test {

using json::IsJson;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PodGc : public ::testing::Test {
 protected:
  Pod& add(const std::string& name, const std::string& phase, const std::string& node = "n1") {
    pods_.push_back(
        {.ref = {.api_version = "v1", .kind = "Pod", .ns = "d", .name = name, .uid = "u-" + name},
         .phase = phase,
         .node = node,
         .generation = 3});
    return pods_.back();
  }
  std::vector<std::string> doomed(int threshold = 100) {
    Observed observed{.pods = {}, .nodes = nodes_, .lost_nodes = lost_, .threshold = threshold};
    for (const Pod& pod : pods_) observed.pods.push_back(&pod);
    std::vector<std::string> out;
    for (const Doomed& each : choose(observed))
      out.push_back(each.pod->ref.name + ": " + each.why + (each.disrupted ? "!" : ""));
    return out;
  }

  std::list<Pod> pods_;
  std::map<std::string, Node> nodes_{{"n1", {.ready = true}}};
  std::set<std::string> lost_;
};

const std::string kMany = ": too many ended pods are kept";

TEST_F(PodGc, TheExcessOfEndedPodsGoesOldestFirst) {
  add("c", "Succeeded").created = Time(seconds(30));
  add("a", "Failed").created = Time(seconds(20));
  add("b", "Succeeded").created = Time(seconds(10));
  add("running", "Running");
  EXPECT_THAT(doomed(3), IsEmpty());
  EXPECT_THAT(doomed(2), ElementsAre("b" + kMany));
  EXPECT_THAT(doomed(1), ElementsAre("b" + kMany, "a" + kMany));
}

TEST_F(PodGc, EvictedPodsGoFirstAndNamesDecideBetweenTwins) {
  add("b", "Succeeded").created = Time(seconds(10));
  add("a", "Succeeded").created = Time(seconds(10));
  Pod& evicted = add("evicted", "Failed");
  evicted.created = Time(seconds(99));
  evicted.reason = "Evicted";
  EXPECT_THAT(doomed(1), ElementsAre("evicted" + kMany, "a" + kMany));
}

TEST_F(PodGc, AThresholdOfZeroKeepsAll) {
  add("a", "Failed");
  EXPECT_THAT(doomed(0), IsEmpty());
  EXPECT_THAT(doomed(-1), IsEmpty());
}

TEST_F(PodGc, WaitingRunningAndUnknownPodsHaveNotEnded) {
  for (const char* phase : {"Pending", "Running", "Unknown", "Succeeded", "Failed"})
    add(phase, phase);
  EXPECT_THAT(doomed(1), ElementsAre("Failed" + kMany));
}

TEST_F(PodGc, OnANodeOutOfServiceOnlyTerminatingPodsGo) {
  add("leaving", "Running").deleting = true;
  add("staying", "Running");
  struct Row {
    Node node;
    bool goes;
  };
  for (const Row& row : {Row{{.ready = false, .out_of_service = true}, true},
                         Row{{.ready = true, .out_of_service = true}, false},
                         Row{{.ready = false, .out_of_service = false}, false}}) {
    nodes_["n1"] = row.node;
    EXPECT_THAT(doomed(), SizeIs(row.goes ? 1 : 0));
  }
  nodes_["n1"] = {.ready = false, .out_of_service = true};
  EXPECT_THAT(doomed(), ElementsAre("leaving: its node is out of service"));
}

TEST_F(PodGc, PodsOfALostNodeGoWhateverTheyDo) {
  add("runs", "Running", "lost");
  add("ended", "Succeeded", "lost");
  add("elsewhere", "Running");
  add("nowhere", "Pending", "");
  EXPECT_THAT(doomed(), IsEmpty()) << "not before the server has said so";
  lost_ = {"lost"};
  EXPECT_THAT(doomed(),
              ElementsAre("runs: its node no longer exists!", "ended: its node no longer exists!"));
}

TEST_F(PodGc, AnUnscheduledPodThatIsDeletedGoes) {
  add("leaving", "Pending", "").deleting = true;
  add("waiting", "Pending", "");
  add("scheduled", "Pending").deleting = true;
  EXPECT_THAT(doomed(), ElementsAre("leaving: it is being deleted and never had a node"));
}

TEST_F(PodGc, APodIsSentencedOnce) {
  add("a", "Failed", "lost").deleting = true;
  add("b", "Failed", "lost");
  lost_ = {"lost"};
  EXPECT_THAT(doomed(1), ElementsAre("a" + kMany, "b: its node no longer exists!"));
}

TEST_F(PodGc, ALostPodFailsWithADisruptionBeforeItIsDeleted) {
  const Pod& pod = add("a", "Running", "lost");
  const Plan made =
      plan(testing::resource("v1", "Pod"), {.pod = &pod, .disrupted = true, .why = "w"},
           Time(seconds(1'800'000'000)));
  ASSERT_THAT(made.steps, SizeIs(2));
  const client::Operation& status = made.steps[0].writes[0].operation;
  EXPECT_EQ(status.summary(), "patch pods/status d/a");
  EXPECT_EQ(status.patch_type, client::PatchType::kStrategic);
  EXPECT_THAT(json::Tree(status.body.text()).root, IsJson(R"({"metadata":{"uid":"u-a"},
    "status":{"phase":"Failed","observedGeneration":3,"conditions":[{"type":"DisruptionTarget",
      "status":"True","reason":"DeletionByPodGC","message":"PodGC: node no longer exists",
      "lastTransitionTime":"2027-01-15T08:00:00Z","observedGeneration":3}]}})"));
  const client::Operation& removal = made.steps[1].writes[0].operation;
  EXPECT_EQ(removal.summary(), "delete pods d/a");
  EXPECT_THAT(json::Tree(removal.body.text()).root, IsJson(R"({"propagationPolicy":"Background",
    "preconditions":{"uid":"u-a"},"gracePeriodSeconds":0})"));
}

TEST_F(PodGc, OthersFailWithoutADisruptionAndEndedOnesAreOnlyDeleted) {
  const Plan running =
      plan(testing::resource("v1", "Pod"), {.pod = &add("a", "Pending", "")}, Time{});
  EXPECT_THAT(
      json::Tree(running.operations()[0].body.text()).root,
      IsJson(R"({"metadata":{"uid":"u-a"},"status":{"phase":"Failed","observedGeneration":3}})"));
  const Plan ended = plan(testing::resource("v1", "Pod"), {.pod = &add("b", "Succeeded")}, Time{});
  EXPECT_THAT(ended.operations(), SizeIs(1));
}

TEST(ReadPod, TakesWhatTheCollectorLooksAt) {
  const Pod pod = testing::read_as(read_pod, R"({"metadata":{"namespace":"d","name":"a","uid":"u",
    "generation":2,"creationTimestamp":"2027-01-15T08:00:00Z",
    "deletionTimestamp":"2027-01-15T08:00:00Z"},"spec":{"nodeName":"n"},
    "status":{"phase":"Failed","reason":"Evicted"}})");
  EXPECT_EQ(pod.ref.uid, "u");
  EXPECT_EQ(pod.node, "n");
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_TRUE(pod.deleting);
  EXPECT_TRUE(pod.has_ended());
  EXPECT_EQ(pod.created, Time(seconds(1'800'000'000)));
  EXPECT_EQ(pod.generation, 2);
}

TEST(ReadNode, KnowsReadinessAndTheTaint) {
  const Node node = read_node(json::Tree(R"({"spec":{"taints":[{"key":"x"},
    {"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]},
    "status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})"));
  EXPECT_TRUE(node.out_of_service);
  EXPECT_FALSE(node.ready);
}

TEST(Quarantine, ANodeMustBeMissingForFortySecondsWithoutABreak) {
  MissingNodes nodes;
  const Duration start{};
  EXPECT_THAT(nodes.update({"a", "b"}, start), IsEmpty());
  EXPECT_THAT(nodes.update({"a"}, start + seconds(20)), IsEmpty()) << "b is back";
  EXPECT_THAT(nodes.update({"a", "b"}, start + seconds(39)), IsEmpty());
  EXPECT_THAT(nodes.update({"a", "b"}, start + seconds(40)), ElementsAre("a"));
  EXPECT_THAT(nodes.update({"a", "b"}, start + seconds(80)), ElementsAre("a", "b"));
}

}  // namespace plan_test
}  // namespace muster::controllers::podgc
