#include "controllers/nodes/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::nodes {
namespace controller_test {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kPods = "/api/v1/pods";
const std::string kNodes = "/api/v1/nodes";
const std::string kLeases = "/apis/coordination.k8s.io/v1/leases";
const std::string kTaintPatch = "PATCH /api/v1/nodes/n";
const std::string kStatusPatch = "PATCH /api/v1/nodes/n/status";
const std::string kDisruptedPatch = "PATCH /api/v1/namespaces/d/pods/p/status";

class NodeController : public controllers::testing::ControllerTest<Controller> {
 protected:
  NodeController() {
    informers_.start();
    server_.settle();
    server_.complete_all(++revision_);
  }

  void node(std::string_view name, std::string_view ready, std::string_view taints = "") {
    server_.show(kNodes, shown_.insert(std::string(name)).second ? "ADDED" : "MODIFIED",
                 fmt::format(R"({{"metadata":{{"name":"{0}","uid":"u","resourceVersion":"{1}"}},
                   "spec":{{"taints":[{3}]}},"status":{{"conditions":[{{"type":"Ready",
                   "status":"{2}","lastTransitionTime":"2027-01-15T07:00:00Z"}}]}}}})",
                             name, ++revision_, ready, taints));
  }
  void lease(std::string_view renewed) {
    server_.show(kLeases, shown_.insert("lease").second ? "ADDED" : "MODIFIED",
                 fmt::format(R"({{"metadata":{{"namespace":"kube-node-lease","name":"n","uid":"l",
                   "resourceVersion":"{}"}},"spec":{{"renewTime":"{}",
                   "leaseDurationSeconds":40}}}})",
                             ++revision_, renewed));
  }
  void pod(std::string_view tolerations) {
    server_.show(kPods, "ADDED",
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"p","uid":"u-p",
                   "resourceVersion":"{}","creationTimestamp":"2027-01-15T07:00:00Z"}},
                   "spec":{{"nodeName":"n","tolerations":[{}]}},"status":{{"phase":"Running"}}}})",
                             ++revision_, tolerations));
  }

  std::set<std::string> shown_;
  int revision_ = 0;
};

constexpr std::string_view kBorn =
    R"({"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"})";

TEST_F(NodeController, AReadyNodeLosesItsFirstTaint) {
  node("n", "True", kBorn);
  EXPECT_THAT(server_.waiting(), ElementsAre(kTaintPatch));
}

TEST_F(NodeController, ANodeThatNeverHadALeaseStaysWhatItSays) {
  node("n", "True");
  server_.pass_time(std::chrono::hours(1));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(NodeController, ANodeWhoseLeaseIsNotRenewedIsLost) {
  node("n", "True");
  lease("1");
  server_.pass_time(seconds(45));
  lease("2");
  server_.pass_time(seconds(45));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(10));
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatusPatch));
}

TEST_F(NodeController, TheNodeOfAnotherLeaseIsNotMeant) {
  node("n", "True");
  server_.show(kLeases, "ADDED",
               R"({"metadata":{"namespace":"default","name":"n","uid":"l","resourceVersion":"50"},
                   "spec":{"renewTime":"1","leaseDurationSeconds":1}})");
  server_.pass_time(std::chrono::hours(1));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

constexpr std::string_view kEvicting = R"({"key":"x","effect":"NoExecute"})";
constexpr std::string_view kBearsHalfAMinute =
    R"({"key":"x","operator":"Exists","tolerationSeconds":30})";

TEST_F(NodeController, APodGoesWhenItsTimeOnATaintedNodeIsOver) {
  node("n", "True");
  pod(kBearsHalfAMinute);
  server_.pass_time(seconds(100));
  node("n", "True", kEvicting);
  server_.pass_time(seconds(29));
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "the taint does not say since when: since now";
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre(kDisruptedPatch));
  server_.answer_object("p", ++revision_);
  EXPECT_THAT(server_.waiting(), Contains("DELETE /api/v1/namespaces/d/pods/p"));
}

TEST_F(NodeController, APodStaysWhenTheTaintGoesInTime) {
  node("n", "True", kEvicting);
  pod(kBearsHalfAMinute);
  server_.pass_time(seconds(20));
  node("n", "True");
  server_.pass_time(seconds(100));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

class ClockJump : public NodeController, public ::testing::WithParamInterface<int> {
 protected:
  void set_clock() { server_.loop->set_clock(std::chrono::days(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Days, ClockJump, ::testing::Values(1, -1));

TEST_P(ClockJump, LosesNoNodeAndHidesNoLoss) {
  node("n", "True");
  lease("1");
  server_.pass_time(seconds(7));
  set_clock();
  node("n", "True");  // looked at, before anybody looks at the clock
  server_.pass_time(seconds(40));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(10));
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatusPatch));
}

TEST_P(ClockJump, EvictsNoPodSoonerOrLater) {
  node("n", "True", kEvicting);
  pod(kBearsHalfAMinute);
  server_.pass_time(seconds(9));
  set_clock();
  node("n", "True", kEvicting);
  server_.pass_time(seconds(20));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre(kDisruptedPatch));
}

TEST_P(ClockJump, WhatATaintSaysIsReadOnce) {
  constexpr std::string_view kSince =
      R"({"key":"x","effect":"NoExecute","timeAdded":"2027-01-15T08:00:00Z"})";
  server_.pass_time(seconds(4));
  node("n", "True", kSince);
  pod(kBearsHalfAMinute);
  set_clock();
  node("n", "True", kSince);
  server_.pass_time(seconds(25));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre(kDisruptedPatch));
}

TEST_F(NodeController, TheFirstReadyNodeLetsOthersBeEvicted) {
  node("n", "False", kBorn);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  node("m", "True");
  EXPECT_THAT(server_.waiting(), ElementsAre(kTaintPatch));
}

}  // namespace controller_test
}  // namespace muster::controllers::nodes
