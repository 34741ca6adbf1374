#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace gangs_test {

using json::IsJson;
using testing::EndsWith;
using testing::HasSubstr;

std::string group_version(std::string_view version) {
  return fmt::format("scheduling.k8s.io/{}", version);
}

std::string with_spec(std::string_view spec) {
  return fmt::format(R"({{"metadata": {{"name": "a"}}, "spec": {}}})", spec);
}

// What a kube-apiserver 1.37.1 answered (spec: gang 1.5).
TEST(Gangs, V1beta1AnswersAsRecorded) {
  World world;
  world.add("scheduling.k8s.io/v1", "PriorityClass",
            R"({"metadata": {"name": "hi"}, "value": 1000})");
  const json::Tree cases(read_testdata("gangs-v1beta1.json"));
  ASSERT_GT(cases.root.size(), 30U);
  for (const json::Value each : cases.root.items()) {
    const std::string_view kind = each.get("kind").as_string();
    const Outcome made =
        world.create(group_version("v1beta1"), kind, with_spec(json::write(each.get("send"))));
    const std::string name = fmt::format("{} {}", kind, each.get("case").as_string());
    const std::string_view message = each.get("message").as_string();
    EXPECT_THAT(made.message(), EndsWith(std::string(message))) << name;
    EXPECT_EQ(made.message().empty(), message.empty()) << name;
    if (message.empty())
      EXPECT_THAT(made.at({"spec"}), IsJson(json::write(each.get("stored")))) << name;
  }
}

TEST(Gangs, V1alpha1HasItsOwnWords) {
  struct Row {
    std::string_view spec;
    std::string_view fault;  // empty: accepted
  };
  constexpr Row rows[] = {
      {R"({"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 3}}}, {"name": "b", "policy": {"basic": {}}}]})",
       ""},
      {R"({"podGroups": []})", "spec.podGroups: Required value: must have at least one item"},
      {R"({})", "spec.podGroups: Required value: must have at least one item"},
      {R"({"podGroups": [{"name": "a"}]})",
       "spec.podGroups[0].policy: Required value: exactly one of `basic`, `gang` is required"},
      {R"({"podGroups": [{"name": "a", "policy": {"basic": {}, "gang": {"minCount": 1}}}]})",
       "exactly one of `basic`, `gang` is required, but multiple fields are set"},
      {R"({"podGroups": [{"name": "a", "policy": {"gang": {}}}]})",
       "spec.podGroups[0].policy.gang.minCount: Required value"},
      {R"({"podGroups": [{"name": "a", "policy": {"gang": {"minCount": -1}}}]})",
       "spec.podGroups[0].policy.gang.minCount: Invalid value: -1: must be greater than or equal "
       "to 1"},
      {R"({"podGroups": [{"name": "a", "policy": {"basic": {}}}, {"name": "a", "policy": {"basic": {}}}]})",
       "spec.podGroups[1]: Duplicate value"},
      {R"({"podGroups": [{"name": "A", "policy": {"basic": {}}}]})",
       "spec.podGroups[0].name: Invalid value"},
      {R"({"controllerRef": {"kind": "JobSet"}, "podGroups": [{"name": "a", "policy": {"basic": {}}}]})",
       "spec.controllerRef.name: Required value"},
  };
  const World world;
  for (const auto& [spec, fault] : rows) {
    const std::string message =
        world.create(group_version("v1alpha1"), "Workload", with_spec(spec)).message();
    EXPECT_EQ(message.empty(), fault.empty()) << spec << "\n" << message;
    EXPECT_THAT(message, HasSubstr(std::string(fault))) << spec;
  }
}

// As many groups as a Workload may have, and one more.
TEST(Gangs, EightGroupsAreTheLimitInEveryVersion) {
  const World world;
  for (const std::string_view version : {"v1alpha1", "v1alpha2", "v1beta1"}) {
    const bool old = version == "v1alpha1";
    std::string groups;
    for (int i = 1; i <= 9; ++i) {
      groups += fmt::format(R"({}{{"name": "g{}", "{}": {{"basic": {{}}}}}})", i == 1 ? "" : ", ",
                            i, old ? "policy" : "schedulingPolicy");
      if (i < 8) continue;
      const std::string spec =
          fmt::format(R"({{"{}": [{}]}})", old ? "podGroups" : "podGroupTemplates", groups);
      EXPECT_THAT(world.create(group_version(version), "Workload", with_spec(spec)).message(),
                  HasSubstr(i == 8 ? "" : "Too many: 9: must have at most 8 items"))
          << version;
    }
  }
}

struct ChangeRow {
  std::string_view version;
  std::string_view kind;
  std::string_view before;
  std::string_view after;
  std::string_view fault;  // empty: accepted
};

TEST(Gangs, WhatMayChangeDependsOnTheVersion) {
  constexpr std::string_view kAlpha1 =
      R"({"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 2}}}]})";
  constexpr std::string_view kAlpha2 =
      R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}}, {"name": "b", "schedulingPolicy": {"basic": {}}}]})";
  constexpr std::string_view kGroup = R"({"schedulingPolicy": {"gang": {"minCount": 2}}})";
  const ChangeRow rows[] = {
      {"v1alpha1", "Workload", kAlpha1,
       R"({"podGroups": [{"name": "a", "policy": {"gang": {"minCount": 3}}}]})",
       "spec.podGroups: Invalid value"},
      {"v1alpha1", "Workload", kAlpha1,
       R"({"controllerRef": {"kind": "K", "name": "n"}, "podGroups": [{"name": "a", "policy": {"gang": {"minCount": 2}}}]})",
       ""},
      {"v1alpha1", "Workload",
       R"({"controllerRef": {"kind": "K", "name": "n"}, "podGroups": [{"name": "a", "policy": {"basic": {}}}]})",
       R"({"podGroups": [{"name": "a", "policy": {"basic": {}}}]})",
       "spec.controllerRef: Invalid value"},
      {"v1alpha2", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 3}}}, {"name": "b", "schedulingPolicy": {"basic": {}}}]})",
       "spec.podGroupTemplates: Invalid value: null: field is immutable"},
      {"v1beta1", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "b", "schedulingPolicy": {"basic": {}}}, {"name": "a", "schedulingPolicy": {"gang": {"minCount": 5}}}]})",
       ""},
      {"v1beta1", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"basic": {}}}, {"name": "b", "schedulingPolicy": {"basic": {}}}]})",
       "[spec.podGroupTemplates[0].schedulingPolicy.basic: Invalid value: null: field is "
       "immutable, "
       "spec.podGroupTemplates[0].schedulingPolicy.gang: Invalid value: null: field cannot be "
       "cleared once set]"},
      {"v1beta1", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}}]})",
       "spec.podGroupTemplates: Forbidden: item may not be removed"},
      {"v1beta1", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}}, {"name": "b", "schedulingPolicy": {"basic": {}}}, {"name": "c", "schedulingPolicy": {"basic": {}}}]})",
       "spec.podGroupTemplates[2]: Forbidden: item may not be added"},
      {"v1beta1", "Workload", kAlpha2,
       R"({"podGroupTemplates": [{"name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}}, {"name": "b", "schedulingPolicy": {"basic": {}}}]})",
       "spec.podGroupTemplates[0].disruptionMode: Invalid value: null: field is immutable"},
      {"v1alpha2", "PodGroup", kGroup, R"({"schedulingPolicy": {"gang": {"minCount": 3}}})",
       "spec.schedulingPolicy: Invalid value: null: field is immutable"},
      {"v1beta1", "PodGroup", kGroup,
       R"({"schedulingPolicy": {"gang": {"minCount": 3}}, "priority": 0})", ""},
      {"v1beta1", "PodGroup", kGroup,
       R"({"schedulingPolicy": {"gang": {"minCount": 0}}, "priority": 0})",
       "spec.schedulingPolicy.gang.minCount: Required value"},
      {"v1beta1", "PodGroup", kGroup, R"({"schedulingPolicy": {"basic": {}}, "priority": 0})",
       "spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set"},
      {"v1beta1", "PodGroup", kGroup,
       R"({"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 0, "workloadRef": {"workloadName": "w", "templateName": "t"}})",
       "spec.workloadRef: Invalid value: null: field is immutable"},
      {"v1beta1", "PodGroup", kGroup,
       R"({"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 0, "disruptionMode": {"all": {}}})",
       "spec.disruptionMode: Invalid value: null: field is immutable"},
  };
  const World world;
  for (const auto& [version, kind, before, after, fault] : rows) {
    const Outcome old = world.create(group_version(version), kind, with_spec(before));
    ASSERT_EQ(old.message(), "");
    const json::Tree now(with_spec(after));
    const json::Value metadata = json::clone(now.root.arena(), old.at({"metadata"}));
    metadata.set("resourceVersion", "1");
    now.root.set("metadata", metadata);
    const std::string message =
        world.update(group_version(version), kind, old, json::write(now)).message();
    EXPECT_EQ(message.empty(), fault.empty()) << version << " " << after << "\n" << message;
    EXPECT_THAT(message, HasSubstr(std::string(fault))) << version << " " << after;
  }
}

TEST(Gangs, FieldsOfGatesThatAreOffAreDropped) {
  World world;
  constexpr std::string_view kSpec =
      R"({"schedulingPolicy": {"basic": {}}, "schedulingConstraints": {"topology": [{"key": "rack"}]},
          "resourceClaims": [{"name": "c", "resourceClaimName": "d"}], "preemptionPolicy": "Never",
          "parentCompositePodGroupName": "p"})";
  const auto keeps = [&](std::string_view field) {
    const Outcome made = world.create(group_version("v1beta1"), "PodGroup", with_spec(kSpec));
    return made.at({"spec"}).has(field);
  };
  EXPECT_TRUE(keeps("schedulingConstraints"));
  for (const std::string_view field :
       {"resourceClaims", "preemptionPolicy", "parentCompositePodGroupName"})
    EXPECT_FALSE(keeps(field)) << field;
  ASSERT_TRUE(
      world.gates.set("TopologyAwareWorkloadScheduling=false,DRAWorkloadResourceClaims=true"));
  EXPECT_FALSE(keeps("schedulingConstraints"));
  EXPECT_TRUE(keeps("resourceClaims"));
}

TEST(Gangs, APodNamesAGroupOfAWorkload) {
  struct Row {
    std::string_view fields;
    std::string_view fault;
  };
  constexpr Row rows[] = {
      {R"("workloadRef": {"name": "w.x", "podGroup": "g", "podGroupReplicaKey": "0"})", ""},
      {R"("workloadRef": {"name": "w", "podGroup": "g"})", ""},
      {R"("workloadRef": {})", "spec.workloadRef.podGroup: Required value"},
      {R"("workloadRef": {"name": "W", "podGroup": "g"})",
       "spec.workloadRef.name: Invalid value: \"W\""},
      {R"("workloadRef": {"name": "w", "podGroup": "g.h"})",
       "spec.workloadRef.podGroup: Invalid value"},
      {R"("workloadRef": {"name": "w", "podGroup": "g", "podGroupReplicaKey": "-"})",
       "spec.workloadRef.podGroupReplicaKey: Invalid value"},
      {R"("workloadRef": {"name": "w", "podGroup": "g"}, "schedulingGroup": {"podGroupName": "p"})",
       "spec.workloadRef: Forbidden: may not be set together with schedulingGroup"},
  };
  const World world;
  for (const auto& [fields, fault] : rows) {
    const std::string spec =
        fmt::format(R"({{"containers": [{{"name": "c", "image": "i"}}], {}}})", fields);
    const std::string message = world.create("v1", "Pod", with_spec(spec)).message();
    EXPECT_EQ(message.empty(), fault.empty()) << fields << "\n" << message;
    EXPECT_THAT(message, HasSubstr(std::string(fault))) << fields;
  }
}

TEST(Gangs, APodCannotChangeItsGroup) {
  const World world;
  const Outcome pod = world.create(
      "v1", "Pod",
      with_spec(
          R"({"containers": [{"name": "c", "image": "i"}], "workloadRef": {"name": "w", "podGroup": "g"}})"));
  ASSERT_EQ(pod.message(), "");
  EXPECT_THAT(
      world.patch("v1", "Pod", pod, R"({"spec": {"workloadRef": {"podGroup": "h"}}})").message(),
      HasSubstr("pod updates may not change fields"));
}

}  // namespace gangs_test
}  // namespace muster::admission
