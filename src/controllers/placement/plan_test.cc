#include "controllers/placement/plan.h"

#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::placement {
namespace plan_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> text(const Plan& plan) {
  std::vector<std::string> out;
  for (std::size_t step = 0; step < plan.steps.size(); ++step) {
    for (const Write& write : plan.steps[step].writes) {
      out.push_back(fmt::format("{} {}", step, write.operation.summary()));
    }
  }
  return out;
}

class Placement : public ::testing::Test {
 protected:
  static Pod pod(std::string name, std::optional<std::string> domain) {
    return {.ns = "ns",
            .name = name,
            .uid = "uid-" + name,
            .controller_uid = "job",
            .job_key = "key",
            .topology = "rack",
            .domain = std::move(domain)};
  }
  Plan plan_for(const std::vector<Pod>& followers) {
    std::vector<const Pod*> pods = {&leader_};
    for (const Pod& follower : followers) pods.push_back(&follower);
    return plan(resource_, {.leader = leader_, .pods = pods, .node = has_node_ ? &node_ : nullptr},
                *parse_time("2026-01-01T00:00:00Z"));
  }

  api::Resource resource_ = [] {
    api::Resource out;
    out.gvk = {"", "v1", "Pod"};
    out.plural = "pods";
    return out;
  }();
  api::Meta node_ = {.name = "n", .labels = {{"rack", "r1"}}};
  bool has_node_ = true;
  Pod leader_ = [] {
    Pod out = pod("leader", std::nullopt);
    out.is_leader = true;
    out.node_name = "n";
    return out;
  }();
};

TEST_F(Placement, FollowersInTheLeadersRackStay) {
  EXPECT_THAT(text(plan_for({pod("a", "r1"), pod("b", "r1")})), IsEmpty());
  EXPECT_THAT(text(plan_for({})), IsEmpty());
}

TEST_F(Placement, OneFollowerAstrayAndAllGo) {
  for (const std::optional<std::string>& astray :
       {std::optional<std::string>("r2"), std::optional<std::string>(),
        std::optional<std::string>("")}) {
    EXPECT_THAT(text(plan_for({pod("a", "r1"), pod("b", astray)})),
                ElementsAre("0 patch pods/status ns/a", "0 patch pods/status ns/b",
                            "1 delete pods ns/a", "1 delete pods ns/b"));
  }
}

TEST_F(Placement, TheReasonIsWrittenBeforeTheDeletion) {
  const Plan plan = plan_for({pod("a", "r2")});
  const client::Operation& reason = plan.steps[0].writes[0].operation;
  EXPECT_EQ(reason.patch_type, client::PatchType::kStrategic);
  EXPECT_THAT(json::Tree(reason.body.text()).root,
              IsJson(R"({"metadata": {"uid": "uid-a"}, "status": {"conditions": [
      {"type": "DisruptionTarget", "status": "True", "reason": "ExclusivePlacementViolation",
       "message": "Pod violated JobSet exclusive placement policy",
       "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})"));
  EXPECT_THAT(json::Tree(plan.steps[1].writes[0].operation.body.text()).root,
              IsJson(R"({"propagationPolicy": "Background", "preconditions": {"uid": "uid-a"}})"));
}

TEST_F(Placement, WithoutTheLeadersNodeNothingIsKnown) {
  has_node_ = false;
  EXPECT_EQ(plan_for({pod("a", "r1")}).error, "leader topology is unknown (node not found)");
  EXPECT_EQ(plan_for({}).error, "");
}

TEST_F(Placement, ANodeWithoutTheLabelIsAnError) {
  node_.labels.clear();
  EXPECT_EQ(plan_for({pod("a", "r1")}).error, "node n does not have topology label: rack");
}

TEST_F(Placement, PodsOfOthersAreNotTouched) {
  Pod other_owner = pod("a", "r2"), other_key = pod("b", "r2"), ended = pod("c", "r2"),
      plain = pod("d", "r2");
  other_owner.controller_uid = "another";
  other_key.job_key = "another";
  ended.is_over = true;
  plain.topology.clear();
  EXPECT_THAT(text(plan_for({other_owner, other_key, ended, plain})), IsEmpty());
}

TEST_F(Placement, OnlyALeaderThatIsBoundAndStaysCounts) {
  const std::vector<Pod> astray = {pod("a", "r2")};
  leader_.node_name.clear();
  EXPECT_THAT(text(plan_for(astray)), IsEmpty());
  leader_.node_name = "n";
  leader_.is_over = true;
  EXPECT_THAT(text(plan_for(astray)), IsEmpty());
  leader_.is_over = false;
  leader_.is_leader = false;
  EXPECT_THAT(text(plan_for(astray)), IsEmpty());
}

Pod read(std::string_view metadata, std::string_view spec) {
  return controllers::testing::read_as(
      read_pod, fmt::format(R"({{"metadata": {{"name": "p", "namespace": "ns", {}}}, "spec": {}}})",
                            metadata, spec));
}

TEST(PlacedPods, AreReadByTheirAnnotations) {
  const Pod leader = read(R"("uid": "u", "labels": {"jobset.sigs.k8s.io/job-key": "k"},
      "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack",
                      "batch.kubernetes.io/job-completion-index": "0"},
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job",
                           "controller": true}])",
                          R"({"nodeName": "n"})");
  EXPECT_TRUE(leader.is_leader);
  EXPECT_EQ(leader.topology, "rack");
  EXPECT_EQ(leader.job_key, "k");
  EXPECT_EQ(leader.controller_uid, "job");
  EXPECT_EQ(leader.node_name, "n");
  EXPECT_EQ(leader.domain, std::nullopt);
  const Pod follower =
      read(R"("annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack",
                              "batch.kubernetes.io/job-completion-index": "1"})",
           R"({"nodeSelector": {"rack": "r1"}})");
  EXPECT_FALSE(follower.is_leader);
  EXPECT_EQ(follower.domain, "r1");
}

TEST(PlacedPods, ThatHaveEndedTakeNoPlace) {
  const std::string_view exclusive =
      R"("annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"})";
  EXPECT_FALSE(read(exclusive, R"({}, "status": {"phase": "Running"})").is_over);
  EXPECT_TRUE(read(exclusive, R"({}, "status": {"phase": "Failed"})").is_over);
  EXPECT_TRUE(read(exclusive, R"({}, "status": {"phase": "Succeeded"})").is_over);
  EXPECT_TRUE(
      read(fmt::format(R"({}, "deletionTimestamp": "2026-01-01T00:00:00Z")", exclusive), "{}")
          .is_over);
}

TEST(PlacedPods, AreNotThoseOfTheNodeSelectorStrategy) {
  EXPECT_EQ(read(R"("annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack",
                                    "alpha.jobset.sigs.k8s.io/node-selector": "true"})",
                 "{}")
                .topology,
            "");
  EXPECT_EQ(read(R"("uid": "u")", "{}").topology, "");
}

}  // namespace plan_test
}  // namespace muster::controllers::placement
