#include "controllers/namespaces/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::namespaces {
namespace plan_test {

using json::IsJson;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const api::Resource& pods() { return testing::resource("v1", "Pod"); }
const api::Resource& maps() { return testing::resource("v1", "ConfigMap"); }
const api::Resource& jobs() { return testing::resource("batch/v1", "Job"); }

// Deleted at 08:00:00.
constexpr std::string_view kTerminating =
    R"({"metadata":{"name":"a","uid":"u","resourceVersion":"7",
  "deletionTimestamp":"2027-01-15T08:00:00Z","labels":{"l":"1"},"managedFields":[{"manager":"m"}]},
  "spec":{"finalizers":["kubernetes","x.io/other"]},"status":{"phase":"Terminating"}})";

class Namespaces : public ::testing::Test {
 protected:
  Plan planned(const Content& content, seconds later = seconds(5)) {
    return plan(testing::resource("v1", "Namespace"), object_, content,
                Time(seconds(1'800'000'000)) + later);
  }
  static std::vector<std::string> writes(const Plan& plan) {
    std::vector<std::string> out;
    for (const auto& write : plan.operations()) out.push_back(write.summary());
    return out;
  }
  // "Type=Status Reason: message" of a status write.
  static std::vector<std::string> conditions(const Plan& plan) {
    std::vector<std::string> out;
    const json::Tree body(plan.operations().at(0).body.text());
    for (const json::Value each : body.root.get({"status", "conditions"}).items()) {
      out.push_back(fmt::format("{}={} {}: {}", each.get("type").as_string(),
                                each.get("status").as_string(), each.get("reason").as_string(),
                                each.get("message").as_string()));
    }
    return out;
  }

  json::Tree object_{kTerminating};
};

const std::string kDiscovered =
    "NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully "
    "discovered";
const std::string kParsed =
    "NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types "
    "successfully parsed";
const std::string kDeleted =
    "NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may "
    "be waiting on finalization";
const std::string kRemoved =
    "NamespaceContentRemaining=False ContentRemoved: All content successfully removed";
const std::string kNoFinalizers =
    "NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers "
    "finished";

TEST_F(Namespaces, OnlyThoseThatAreDeletedAndOursAreTouched) {
  EXPECT_TRUE(is_ours_to_empty(object_));
  EXPECT_FALSE(is_ours_to_empty(json::Tree(R"({"spec":{"finalizers":["kubernetes"]}})")));
  EXPECT_FALSE(is_ours_to_empty(json::Tree(
      R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z"},"spec":{"finalizers":["x"]}})")));
}

TEST_F(Namespaces, PodsGoFirst) {
  const Plan plan = planned({.kinds = {{&pods(), 3, 3, {}}}, .pod_grace = seconds(30)});
  EXPECT_THAT(writes(plan), ElementsAre("delete pods a/"));
  EXPECT_THAT(plan.operations()[0].body.text(), HasSubstr("Background"));
  EXPECT_EQ(plan.look_again, std::chrono::milliseconds(100)) << "to see what is left";
}

TEST_F(Namespaces, WhilePodsAreLeftNothingElseIsTouchedAndTheConditionsClaimTheEnd) {
  const Plan plan = planned({.kinds = {{&pods(), 3, 0, {}}}, .pod_grace = seconds(30)});
  EXPECT_THAT(writes(plan), ElementsAre("patch namespaces/status a"));
  EXPECT_THAT(conditions(plan),
              ElementsAre(kDiscovered, kParsed, kDeleted, kRemoved, kNoFinalizers));
  EXPECT_EQ(plan.look_again, seconds(16));
}

TEST_F(Namespaces, PodsThatAreHeldByFinalizersAreLookedAtEveryEightSeconds) {
  const Plan plan =
      planned({.kinds = {{&pods(), 1, 0, {{"x.io/hold", 1}}}}, .pod_grace = seconds(1)});
  EXPECT_EQ(plan.look_again, seconds(8));
}

TEST_F(Namespaces, PodsThatOutliveTheirGraceAreAFailure) {
  const Plan plan =
      planned({.kinds = {{&pods(), 1, 0, {}}}, .pod_grace = seconds(30)}, seconds(30));
  EXPECT_THAT(conditions(plan)[2],
              "NamespaceDeletionContentFailure=True ContentDeletionFailed: Failed to delete all "
              "resource types, 1 remaining: unexpected items still remain in namespace: a for gvr: "
              "/v1, Resource=pods");
  EXPECT_EQ(plan.look_again, seconds(5));
}

TEST_F(Namespaces, ThenEverythingElseGoesAtOnce) {
  const Plan plan = planned({.kinds = {{&jobs(), 2, 1, {}}, {&maps(), 1, 1, {}}}});
  EXPECT_THAT(writes(plan), ElementsAre("delete jobs.batch a/", "delete configmaps a/"));
  EXPECT_THAT(plan.steps, SizeIs(1));
}

TEST_F(Namespaces, WhatFinalizersHoldIsSaidWithItsNumbers) {
  const Plan plan = planned(
      {.kinds = {{&jobs(), 2, 0, {{"x.y/z", 1}, {"b.c/d", 2}}}, {&maps(), 1, 0, {{"x.y/z", 1}}}}});
  EXPECT_THAT(
      conditions(plan),
      ElementsAre(kDiscovered, kParsed, kDeleted,
                  "NamespaceContentRemaining=True SomeResourcesRemain: Some resources are "
                  "remaining: configmaps. has 1 resource instances, jobs.batch has 2 resource "
                  "instances",
                  "NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the "
                  "namespace has finalizers remaining: b.c/d in 2 resource instances, x.y/z in 2 "
                  "resource instances"));
  EXPECT_EQ(plan.look_again, seconds(8));
}

TEST_F(Namespaces, AKindThatCannotBeReadIsAFailureAndNothingIsFinalized) {
  const Plan plan = planned({.errors = {"the server is on fire"}});
  EXPECT_THAT(writes(plan), ElementsAre("patch namespaces/status a"));
  EXPECT_THAT(conditions(plan)[2],
              HasSubstr("=True ContentDeletionFailed: Failed to delete all resource types, 1 "
                        "remaining: the server is on fire"));
  EXPECT_EQ(plan.look_again, seconds(5));
}

TEST_F(Namespaces, WhenNothingIsLeftTheFinalizerGoesAfterTheConditions) {
  const Plan plan = planned({});
  EXPECT_THAT(writes(plan),
              ElementsAre("patch namespaces/status a", "update namespaces/finalize a"));
  EXPECT_THAT(plan.steps, SizeIs(2));
  EXPECT_THAT(json::Tree(plan.operations()[1].body.text()).root,
              IsJson(R"({"metadata":{"name":"a","uid":"u",
    "deletionTimestamp":"2027-01-15T08:00:00Z","labels":{"l":"1"}},
    "spec":{"finalizers":["x.io/other"]},"status":{"phase":"Terminating"}})"));
  EXPECT_FALSE(plan.look_again);
}

TEST_F(Namespaces, ConditionsThatSayTheSameKeepTheirTimeAndAreNotWrittenAgain) {
  const Plan first = planned({.kinds = {{&pods(), 1, 0, {}}}, .pod_grace = seconds(60)});
  const json::Tree patch(first.operations()[0].body.text());
  object_.root.get("status").set(
      "conditions", json::clone(object_.arena, patch.root.get({"status", "conditions"})));
  EXPECT_THAT(
      writes(planned({.kinds = {{&pods(), 1, 0, {}}}, .pod_grace = seconds(60)}, seconds(9))),
      IsEmpty());
  const Plan later = planned({.kinds = {{&maps(), 1, 0, {{"x.y/z", 1}}}}}, seconds(9));
  const json::Tree body(later.operations().at(0).body.text());
  const json::Value conditions = body.root.get({"status", "conditions"});
  EXPECT_EQ(conditions.item(0).get("lastTransitionTime").as_string(), "2027-01-15T08:00:05Z");
  EXPECT_EQ(conditions.item(3).get("lastTransitionTime").as_string(), "2027-01-15T08:00:09Z");
}

TEST_F(Namespaces, APhaseThatIsNotSetIsSet) {
  object_.root.erase("status");
  EXPECT_THAT(planned({}).operations()[0].body.text(), HasSubstr(R"("phase":"Terminating")"));
}

}  // namespace plan_test
}  // namespace muster::controllers::namespaces
