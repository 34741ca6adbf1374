// What JobSet's mutating webhook fills in: one test for each sentence of its contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace jobset_defaults_test {

using json::IsJson;

class JobSetDefaults : public testing::Test {
 protected:
  Outcome create(std::string_view text) const {
    return world.create(kJobSetVersion, "JobSet", text);
  }
  Outcome create_set(const std::vector<std::string>& jobs, std::string_view more = "") const {
    return create(jobset(jobs, more));
  }
  World world;
};

TEST_F(JobSetDefaults, FillWhatIsAbsent) {
  const Outcome set = create_set({job("w", {.spec = ""})});
  ASSERT_EQ(set.message(), "");
  EXPECT_THAT(set.at({"spec", "successPolicy"}), IsJson(R"({"operator": "All"})"));
  EXPECT_THAT(set.at({"spec", "startupPolicy"}), IsJson(R"({"startupPolicyOrder": "AnyOrder"})"));
  EXPECT_THAT(set.at({"spec", "network"}),
              IsJson(R"({"enableDNSHostnames": true, "publishNotReadyAddresses": true})"));
  const json::Value entry = set.at({"spec", "replicatedJobs"}).item(0);
  EXPECT_EQ(entry.get({"template", "spec", "completionMode"}).as_string(), "Indexed");
  EXPECT_EQ(entry.get({"template", "spec", "template", "spec", "restartPolicy"}).as_string(),
            "OnFailure");
  EXPECT_FALSE(set.at({"spec"}).has("managedBy"));
  EXPECT_EQ(set.at({"metadata", "generation"}).as_int(), 1);
}

TEST_F(JobSetDefaults, LeaveCountsOfTheJobToTheJob) {
  const Outcome set = create_set({job("w", {.spec = ""})});
  const json::Value spec = set.at({"spec", "replicatedJobs"}).item(0).get({"template", "spec"});
  for (const std::string_view key : {"parallelism", "completions", "backoffLimit"})
    EXPECT_FALSE(spec.has(key)) << key;
}

TEST_F(JobSetDefaults, KeepWhatIsSet) {
  const Outcome set = create_set(
      {job("w",
           {.spec = R"("completionMode": "NonIndexed")",
            .pod = R"("restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}])"})},
      R"("successPolicy": {"operator": "Any"}, "startupPolicy": {"startupPolicyOrder": "InOrder"},
         "network": {"enableDNSHostnames": false, "publishNotReadyAddresses": false},
         "managedBy": "example.com/x",)");
  ASSERT_EQ(set.message(), "");
  EXPECT_THAT(set.at({"spec", "successPolicy"}), IsJson(R"({"operator": "Any"})"));
  EXPECT_THAT(set.at({"spec", "startupPolicy"}), IsJson(R"({"startupPolicyOrder": "InOrder"})"));
  EXPECT_THAT(set.at({"spec", "network"}),
              IsJson(R"({"enableDNSHostnames": false, "publishNotReadyAddresses": false})"));
  EXPECT_EQ(set.at({"spec", "managedBy"}).as_string(), "example.com/x");
  const json::Value entry = set.at({"spec", "replicatedJobs"}).item(0);
  EXPECT_EQ(entry.get({"template", "spec", "completionMode"}).as_string(), "NonIndexed");
  EXPECT_EQ(entry.get({"template", "spec", "template", "spec", "restartPolicy"}).as_string(),
            "Never");
}

TEST_F(JobSetDefaults, NameRulesByTheirPlaceInTheList) {
  const Outcome set = create_set({job("w")}, R"("failurePolicy": {"rules": [
      {"action": "FailJobSet"}, {"name": "mine", "action": "FailJobSet"},
      {"name": "", "action": "RestartJobSet"}]},)");
  ASSERT_EQ(set.message(), "");
  const json::Value rules = set.at({"spec", "failurePolicy", "rules"});
  EXPECT_EQ(rules.item(0).get("name").as_string(), "failurePolicyRule0");
  EXPECT_EQ(rules.item(1).get("name").as_string(), "mine");
  EXPECT_EQ(rules.item(2).get("name").as_string(), "failurePolicyRule2");
}

TEST_F(JobSetDefaults, DeleteClaimsUnlessTold) {
  const std::string mounts = job("w", {.pod = R"("containers": [{"name": "c", "image": "i",
      "volumeMounts": [{"name": "data", "mountPath": "/d"}]}])"});
  const Outcome set = create_set({mounts}, R"("volumeClaimPolicies": [{"templates": [
      {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}],)");
  ASSERT_EQ(set.message(), "");
  EXPECT_THAT(set.at({"spec", "volumeClaimPolicies"}).item(0).get("retentionPolicy"),
              IsJson(R"({"whenDeleted": "Delete"})"));
}

// A plain `kubectl apply` sends the lists of the file, which leave out what was filled in.
TEST_F(JobSetDefaults, AnUnchangedFileMayBeAppliedAgain) {
  const std::string file = R"({"metadata": {"name": "js"}, "spec": {
      "failurePolicy": {"rules": [{"action": "FailJobSet"}]},
      "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "data"},
                                              "spec": {"accessModes": ["ReadWriteOnce"]}}]}],
      "replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": {
          "containers": [{"name": "c", "image": "i",
                          "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}}}}}]}})";
  const Outcome set = create(file);
  ASSERT_EQ(set.message(), "");
  const Outcome again = world.update(kJobSetVersion, "JobSet", set, file);
  ASSERT_EQ(again.message(), "");
  EXPECT_TRUE(json::equal(again.at({"spec"}), set.at({"spec"})));
  EXPECT_EQ(again.at({"metadata", "generation"}).as_int(), 1);
}

TEST_F(JobSetDefaults, ComeBackWhenTheyAreTakenAway) {
  const Outcome set = create_set({job("w")});
  const Outcome updated = world.patch(kJobSetVersion, "JobSet", set,
                                      R"({"spec": {"successPolicy": null, "network": null}})");
  ASSERT_EQ(updated.message(), "");
  EXPECT_TRUE(json::equal(updated.at({"spec"}), set.at({"spec"})));
}

TEST_F(JobSetDefaults, AreNoWayAroundImmutability) {
  const Outcome set = create_set({job("w")}, R"("successPolicy": {"operator": "Any"},)");
  const Outcome updated =
      world.patch(kJobSetVersion, "JobSet", set, R"({"spec": {"successPolicy": null}})");
  EXPECT_EQ(fault_of(updated), "spec.successPolicy: Invalid value: Value is immutable");
}

// Such a JobSet could otherwise not even lose a finalizer.
TEST_F(JobSetDefaults, DoNotRefuseUpdatesOfASetThatWasStoredWithoutThem) {
  Outcome set = create_set({job("w")});
  set.at({"spec", "replicatedJobs"}).item(0).get({"template", "spec"}).erase("completionMode");
  const Outcome updated =
      world.patch(kJobSetVersion, "JobSet", set, R"({"metadata": {"labels": {"a": "b"}}})");
  EXPECT_EQ(updated.message(), "");
}

TEST_F(JobSetDefaults, OfTheSchemaComeFirst) {
  const Outcome set = create(
      R"({"metadata": {"name": "js"}, "spec": {"failurePolicy": {}, "replicatedJobs": [
          {"name": "w", "template": {"spec": {"template": {"spec": {"containers": []}}}}}]}})");
  ASSERT_EQ(set.message(), "");
  const json::Value entry = set.at({"spec", "replicatedJobs"}).item(0);
  EXPECT_EQ(entry.get("replicas").as_int(), 1);
  EXPECT_EQ(entry.get("groupName").as_string(), "default");
  EXPECT_EQ(set.at({"spec", "failurePolicy", "restartStrategy"}).as_string(), "Recreate");
}

TEST_F(JobSetDefaults, DropFieldsOfFeaturesThatAreOff) {
  ASSERT_TRUE(world.gates.set("GangConfig=false,GroupScheduling=false"));
  const Outcome set =
      create_set({job("w", {.more = R"("gangConfig": {"gangMode": "Gang"})"})},
                 R"("groupSchedulingConfig": {}, "gangConfig": {"gangMode": "Gang"},)");
  ASSERT_EQ(set.message(), "");
  EXPECT_FALSE(set.at({"spec"}).has("groupSchedulingConfig"));
  EXPECT_FALSE(set.at({"spec"}).has("gangConfig"));
  EXPECT_FALSE(set.at({"spec", "replicatedJobs"}).item(0).has("gangConfig"));
  EXPECT_THAT(
      set.warnings,
      testing::ElementsAre(
          "spec.groupSchedulingConfig: dropped, because the feature gate GroupScheduling is off",
          "spec.gangConfig: dropped, because the feature gate GangConfig is off",
          "spec.replicatedJobs[0].gangConfig: dropped, because the feature gate GangConfig is "
          "off"));
}

TEST_F(JobSetDefaults, FieldsOfFeaturesThatWereSwitchedOffStayWhereTheyWere) {
  const Outcome whole = create_set({job("w")}, R"("groupSchedulingConfig": {},
                                                  "gangConfig": {"gangMode": "Gang"},)");
  const Outcome entry = create_set({job("w", {.more = R"("gangConfig": {"gangMode": "Gang"})"})});
  ASSERT_TRUE(world.gates.set("GangConfig=false,GroupScheduling=false"));
  for (const Outcome* set : {&whole, &entry}) {
    ASSERT_EQ(set->message(), "");
    const Outcome updated =
        world.patch(kJobSetVersion, "JobSet", *set, R"({"metadata": {"labels": {"a": "b"}}})");
    ASSERT_EQ(updated.message(), "") << "an immutable field that vanished would be a fault";
    EXPECT_TRUE(json::equal(updated.at({"spec"}), set->at({"spec"})));
    EXPECT_THAT(updated.warnings, testing::IsEmpty());
  }
}

TEST_F(JobSetDefaults, FieldsOfFeaturesThatAreOffCannotBeAddedLater) {
  ASSERT_TRUE(world.gates.set("GangConfig=false,GroupScheduling=false"));
  const Outcome set = create_set({job("w")});
  const Outcome updated =
      world.patch(kJobSetVersion, "JobSet", set,
                  R"({"spec": {"groupSchedulingConfig": {}, "gangConfig": {"gangMode": "Gang"}}})");
  ASSERT_EQ(updated.message(), "");
  EXPECT_FALSE(updated.at({"spec"}).has("groupSchedulingConfig"));
  EXPECT_FALSE(updated.at({"spec"}).has("gangConfig"));
  EXPECT_EQ(updated.warnings.size(), 2u);
}

TEST_F(JobSetDefaults, QueuedSetsStartSuspended) {
  const Outcome set = create(R"({"metadata": {"name": "js", "labels":
      {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {"replicatedJobs": []}})");
  ASSERT_EQ(set.message(), "");
  EXPECT_TRUE(set.at({"spec", "suspend"}).as_bool());
}

TEST_F(JobSetDefaults, ADefaultQueueTakesAllButLabelledOnes) {
  world.add("kueue.x-k8s.io/v1beta2", "LocalQueue",
            R"({"metadata": {"name": "default"}, "spec": {"clusterQueue": "c"}})");
  world.add("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass",
            R"({"metadata": {"name": "default"}, "value": 3})");
  const Outcome set = create_set({job("w")});
  ASSERT_EQ(set.message(), "");
  EXPECT_THAT(set.at({"metadata", "labels"}), IsJson(R"({"kueue.x-k8s.io/queue-name": "default",
                         "kueue.x-k8s.io/priority-class": "default"})"));
  EXPECT_TRUE(set.at({"spec", "suspend"}).as_bool());
}

TEST_F(JobSetDefaults, MisshapenObjectsAreLeftToValidation) {
  for (
      const std::string_view spec :
      {R"("x")", R"([])", R"({"replicatedJobs": {}, "network": 1, "failurePolicy": []})",
       R"({"replicatedJobs": [1, {"template": "x"}], "failurePolicy": {"rules": [1, {"name": 2}]}})",
       R"({"volumeClaimPolicies": [3], "successPolicy": 4})"}) {
    const Outcome set =
        create(fmt::format(R"({{"metadata": {{"name": "js"}}, "spec": {}}})", spec));
    EXPECT_NE(set.message(), "") << spec;
  }
}

}  // namespace jobset_defaults_test
}  // namespace muster::admission
