#include "controllers/nodes/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::nodes {
namespace plan_test {

using json::IsJson;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Time kNow = *parse_time("2027-01-01T12:00:00Z");
constexpr Duration kMoment = std::chrono::hours(100);

Node node(std::string_view spec, std::string_view conditions) {
  json::Arena arena;
  return read_node(*json::parse(
      arena, fmt::format(R"({{"metadata":{{"name":"n","uid":"u","resourceVersion":"7"}},
                            "spec":{},"status":{{"conditions":[{}]}}}})",
                         spec, conditions)));
}
std::string ready(std::string_view status, std::string_view since = "2027-01-01T11:00:00Z") {
  return fmt::format(R"({{"type":"Ready","status":"{}","lastTransitionTime":"{}"}})", status,
                     since);
}
std::string taints(std::string_view list) { return fmt::format(R"({{"taints":[{}]}})", list); }

json::Value body(json::Arena& arena, const Plan& plan, std::size_t write = 0) {
  return *json::parse(arena, plan.operations()[write].body.text());
}

std::vector<std::string> texts(const Plan& plan) {
  std::vector<std::string> out;
  for (const client::Operation& operation : plan.operations()) out.push_back(operation.summary());
  return out;
}

constexpr std::string_view kBorn =
    R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";

struct Row {
  std::string_view sentence;
  std::string spec;
  std::string conditions;
  bool any_ready;
  std::string_view written;  // spec.taints; empty: nothing is written
};

#define SINCE_NOW R"("timeAdded":"2027-01-01T12:00:00Z")"

TEST(PlanNode, TaintsFollowConditions) {
  const Row rows[] = {
      {"a node that is ready loses the taint that it was born with", taints(kBorn), ready("True"),
       true, "[]"},
      {"one that never said anything keeps it", taints(kBorn), "", true, ""},
      {"one that is not ready keeps it and evicts, if others are", taints(kBorn), ready("False"),
       true,
       R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
           {"key":"node.kubernetes.io/not-ready","effect":"NoExecute",)" SINCE_NOW "}]"},
      {"the last one evicts nobody", taints(kBorn), ready("False"), false, ""},
      {"when all are lost, evictions end",
       taints(R"({"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"},
                 {"key":"node.kubernetes.io/unreachable","effect":"NoExecute"})"),
       ready("Unknown"), false,
       R"([{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"}])"},
      {"from not ready to unreachable", taints(kBorn), ready("Unknown"), false,
       R"([{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule",)" SINCE_NOW "}]"},
      {"what people wrote stays",
       taints(R"({"key":"mine","value":"x","effect":"NoExecute",
                                             "timeAdded":"2027-01-01T01:00:00Z"},)" +
              std::string(kBorn)),
       ready("True"), true,
       R"([{"key":"mine","value":"x","effect":"NoExecute","timeAdded":"2027-01-01T01:00:00Z"}])"},
      {"pressure is a taint", "{}", ready("True") + R"(,{"type":"DiskPressure","status":"True"})",
       true, R"([{"key":"node.kubernetes.io/disk-pressure","effect":"NoSchedule",)" SINCE_NOW "}]"},
      {"a cordon is a taint", R"({"unschedulable":true})", ready("True"), true,
       R"([{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule",)" SINCE_NOW "}]"},
      {"nothing to do", "{}", ready("True"), true, ""},
  };
  for (const Row& row : rows) {
    const Plan plan = plan_node(testing::resource("v1", "Node"), node(row.spec, row.conditions),
                                {.lost = false, .any_ready = row.any_ready}, kNow);
    if (row.written.empty()) {
      EXPECT_THAT(texts(plan), IsEmpty()) << row.sentence;
      continue;
    }
    ASSERT_THAT(texts(plan), ElementsAre("patch nodes n")) << row.sentence;
    json::Arena arena;
    EXPECT_THAT(body(arena, plan),
                IsJson(fmt::format(R"({{"metadata":{{"uid":"u","resourceVersion":"7"}},
                                       "spec":{{"taints":{}}}}})",
                                   row.written)))
        << row.sentence;
  }
}

TEST(PlanNode, ALostNodeIsSaidToBeUnknown) {
  const Plan plan =
      plan_node(testing::resource("v1", "Node"),
                node("{}", ready("True") + R"(,{"type":"DiskPressure","status":"False"},
                                    {"type":"PIDPressure","status":"Unknown"})"),
                {.lost = true, .any_ready = true}, kNow);
  ASSERT_THAT(texts(plan), ElementsAre("patch nodes/status n"));
  json::Arena arena;
  EXPECT_THAT(body(arena, plan), IsJson(R"({"metadata":{"uid":"u","resourceVersion":"7"},
    "status":{"conditions":[
      {"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown",
       "message":"Kubelet stopped posting node status.","lastTransitionTime":"2027-01-01T12:00:00Z"},
      {"type":"MemoryPressure","status":"Unknown","reason":"NodeStatusNeverUpdated",
       "message":"Kubelet never posted node status.","lastTransitionTime":"2027-01-01T12:00:00Z"},
      {"type":"DiskPressure","status":"Unknown","reason":"NodeStatusUnknown",
       "message":"Kubelet stopped posting node status.","lastTransitionTime":"2027-01-01T12:00:00Z"}
    ]}})"));
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].message, "Node n status is now: NodeNotReady");
}

TEST(PlanNode, ALostNodeThatIsUnknownAlreadyIsTainted) {
  const Plan plan = plan_node(testing::resource("v1", "Node"), node("{}", ready("Unknown")),
                              {.lost = true, .any_ready = true}, kNow);
  EXPECT_THAT(texts(plan), ElementsAre("patch nodes n"));
}

TEST(SignsOfLife, WithoutALeaseNoTimeIsTooLong) {
  SignsOfLife signs;
  signs.saw(node("{}", ready("True")), kMoment);
  EXPECT_FALSE(signs.is_lost(kMoment + std::chrono::hours(1000)));
}

TEST(SignsOfLife, ALeaseThatIsNotRenewedIsTheEnd) {
  SignsOfLife signs;
  signs.saw(Lease{.renewed = "1", .duration = seconds(40)}, kMoment);
  EXPECT_FALSE(signs.is_lost(kMoment + seconds(49)));
  EXPECT_TRUE(signs.is_lost(kMoment + seconds(50)));
  signs.saw(Lease{.renewed = "1", .duration = seconds(40)}, kMoment + seconds(45));
  EXPECT_TRUE(signs.is_lost(kMoment + seconds(50))) << "the same again is no sign";
  signs.saw(Lease{.renewed = "2", .duration = seconds(40)}, kMoment + seconds(60));
  EXPECT_FALSE(signs.is_lost(kMoment + seconds(100)));
}

TEST(SignsOfLife, ALongLeaseHoldsLonger) {
  SignsOfLife signs;
  signs.saw(Lease{.renewed = "1", .duration = seconds(200)}, kMoment);
  EXPECT_FALSE(signs.is_lost(kMoment + seconds(199)));
  EXPECT_TRUE(signs.is_lost(kMoment + seconds(200)));
}

TEST(SignsOfLife, AHeartbeatIsOneToo) {
  SignsOfLife signs;
  signs.saw(Lease{.renewed = "1", .duration = seconds(40)}, kMoment);
  Node alive = node("{}", ready("True"));
  alive.heartbeat = "later";
  signs.saw(alive, kMoment + seconds(30));
  EXPECT_FALSE(signs.is_lost(kMoment + seconds(79)));
  EXPECT_TRUE(signs.is_lost(kMoment + seconds(80)));
}

Pod pod(std::string_view tolerations, std::string_view status = R"({"phase":"Running"})") {
  return controllers::testing::read_as(
      read_pod, fmt::format(R"({{"metadata":{{"namespace":"d","name":"p","uid":"u","generation":2,
                            "creationTimestamp":"2027-01-01T10:00:00Z"}},
                            "spec":{{"nodeName":"n","tolerations":[{}]}},"status":{}}})",
                            tolerations, status));
}

struct EvictionRow {
  std::string_view sentence;
  std::string_view tolerations;
  std::optional<int> after;  // seconds from when the taint came; nothing: never
};

SeenTaint no_execute(Duration since) {
  return {.taint = {.taint = {.key = "x", .value = "", .effect = "NoExecute"}}, .since = since};
}

TEST(Eviction, AsLongAsThePodBearsIt) {
  const std::vector<SeenTaint> taints{
      {{.taint = {.key = "soft", .value = "", .effect = "NoSchedule"}}, kMoment},
      no_execute(kMoment),
  };
  const EvictionRow rows[] = {
      {"who does not bear it goes at once", "", 0},
      {"who bears it for ever stays", R"({"key":"x","operator":"Exists"})", {}},
      {"who bears it for a while goes then",
       R"({"key":"x","operator":"Exists","tolerationSeconds":300})", 300},
      {"no time is no time", R"({"key":"x","operator":"Exists","tolerationSeconds":-5})", 0},
      {"the first toleration that fits counts",
       R"({"key":"x","operator":"Exists","tolerationSeconds":9},{"operator":"Exists"})", 9},
      {"one for another effect does not fit",
       R"({"key":"x","operator":"Exists","effect":"NoSchedule"})", 0},
  };
  for (const EvictionRow& row : rows) {
    const auto moment = eviction_moment(pod(row.tolerations), {.taints = taints});
    ASSERT_EQ(moment.has_value(), row.after.has_value()) << row.sentence;
    if (moment) {
      EXPECT_EQ(*moment, kMoment + seconds(*row.after)) << row.sentence;
    }
  }
}

TEST(Eviction, APodMayBearItForLongerThanClocksCount) {
  const std::vector<SeenTaint> taints{no_execute(kMoment)};
  const auto moment = eviction_moment(
      pod(R"({"key":"x","operator":"Exists","tolerationSeconds":9223372036854775807})"),
      {.taints = taints});
  EXPECT_GT(moment, kMoment + std::chrono::years(100));
}

TEST(Eviction, APodThatCameLaterHasItsTimeFromThen) {
  const std::vector<SeenTaint> taints{no_execute(kMoment - std::chrono::hours(10))};
  EXPECT_EQ(eviction_moment(pod(R"({"operator":"Exists","tolerationSeconds":60})"),
                            {.since = kMoment - std::chrono::hours(2), .taints = taints}),
            kMoment - std::chrono::hours(2) + seconds(60));
}

class PlanPod : public ::testing::Test {
 protected:
  Plan plan(const Pod& pod, std::string_view node_ready, Time now = kNow) {
    const std::vector<SeenTaint> taints{no_execute(kMoment - seconds(100))};
    return plan_pod(testing::resource("v1", "Pod"), pod, node("{}", node_ready),
                    {.taints = taints, .moment = kMoment}, now);
  }
};

TEST_F(PlanPod, AnEvictedPodIsMarkedThenDeleted) {
  const Plan evicted = plan(pod(""), ready("True"));
  ASSERT_THAT(texts(evicted), ElementsAre("patch pods/status d/p", "delete pods d/p"));
  json::Arena arena;
  EXPECT_THAT(body(arena, evicted), IsJson(R"({"metadata":{"uid":"u"},"status":{
    "conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager",
      "message":"Taint manager: deleting due to NoExecute taint","observedGeneration":2,
      "lastTransitionTime":"2027-01-01T12:00:00Z"}]}})"));
}

TEST_F(PlanPod, WhoHasTimeLeftIsLookedAtThen) {
  const Plan later = plan(pod(R"({"operator":"Exists","tolerationSeconds":300})"), ready("True"));
  EXPECT_THAT(texts(later), IsEmpty());
  EXPECT_EQ(later.look_again, seconds(200));
}

TEST_F(PlanPod, APodOfAnUnreadyNodeIsNotReady) {
  const auto running = [](std::string_view since) {
    return pod(R"({"operator":"Exists"})",
               fmt::format(R"({{"phase":"Running","conditions":[{{"type":"Ready","status":"True",
                               "lastTransitionTime":"{}"}}]}})",
                           since));
  };
  EXPECT_THAT(texts(plan(running("2027-01-01T10:30:00Z"), ready("Unknown"))),
              ElementsAre("patch pods/status d/p"));
  EXPECT_THAT(texts(plan(running("2027-01-01T10:30:00Z"), ready("True"))), IsEmpty());
  EXPECT_THAT(texts(plan(running("2027-01-01T11:30:00Z"), ready("False"))), IsEmpty())
      << "somebody said so after the node was lost";
}

TEST_F(PlanPod, WhoHasEndedOrIsGoingIsLeftAlone) {
  EXPECT_THAT(texts(plan(pod("", R"({"phase":"Succeeded"})"), ready("Unknown"))), IsEmpty());
  Pod going = pod("");
  going.deleting = true;
  EXPECT_THAT(texts(plan(going, ready("Unknown"))), IsEmpty());
}

}  // namespace plan_test
}  // namespace muster::controllers::nodes
