// Kueue's kinds: one row for each CEL rule of their definitions and for each rule of their
// webhooks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace kueue_test {

struct Row {
  std::string kind;
  std::string old;  // empty: a create
  std::string now;
  std::string fault;  // empty: accepted
  std::string version = "v1beta2";
  std::string subresource;
};

// How GoogleTest shows a row.
void PrintTo(const Row& row, std::ostream* out) { *out << row.kind << ": " << row.fault; }

std::string queue(std::string_view spec) {
  return fmt::format(R"({{"metadata": {{"name": "q"}}, "spec": {{{}}}}})", spec);
}

std::string flavors(std::string_view resources, std::string_view covered = R"("cpu")") {
  return fmt::format(R"("resourceGroups": [{{"coveredResources": [{}], "flavors":
      [{{"name": "f", "resources": [{}]}}]}}])",
                     covered, resources);
}

std::string workload(std::string_view spec, std::string_view status = "{}") {
  return fmt::format(
      R"({{"metadata": {{"name": "w"}}, "spec": {{"podSets": [{{"name": "main", "count": 2, "template":
          {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}] {} }}, "status": {}}})",
      spec, status);
}

std::string conditions(std::string_view more, std::initializer_list<std::string_view> types) {
  std::vector<std::string> list;
  for (const std::string_view type : types)
    list.push_back(fmt::format(R"({{"type": "{}", "status": "True", "reason": "r", "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}})",
                               type));
  return fmt::format(R"({{{} "conditions": [{}]}})", more, fmt::join(list, ", "));
}

std::string reserved(std::string_view more = "") { return conditions(more, {"QuotaReserved"}); }

std::string assigned(std::string_view topology) {
  return fmt::format(R"({{"admission": {{"clusterQueue": "q", "podSetAssignments":
      [{{"name": "main", "count": 2, "topologyAssignment": {}}}]}}}})",
                     topology);
}

std::string updates(std::string_view toleration) {
  return fmt::format(R"({{"admissionChecks": [{{"name": "c", "state": "Ready", "message": "",
      "lastTransitionTime": "2026-01-01T00:00:00Z",
      "podSetUpdates": [{{"name": "main", "tolerations": [{}]}}]}}]}})",
                     toleration);
}

class Kueue : public testing::TestWithParam<Row> {};

TEST_P(Kueue, IsJudgedAsUpstreamJudgesIt) {
  const World world;
  const Row& row = GetParam();
  const std::string version = "kueue.x-k8s.io/" + row.version;
  if (row.old.empty()) {
    EXPECT_EQ(fault_of(world.create(version, row.kind, row.now)), row.fault);
    return;
  }
  // As it is stored: with what creation filled in, and with the status that others wrote.
  Outcome old = world.create(version, row.kind, row.old);
  const json::Value status = json::parse(*old.arena, row.old).value().get("status");
  if (!status.is_null()) old.object.set("status", status);
  const Outcome updated =
      world.update(version, row.kind, old, row.now, {.subresource = row.subresource});
  EXPECT_EQ(fault_of(updated), row.fault);
}

std::vector<Row> cluster_queues() {
  const std::string one = R"({"name": "cpu", "nominalQuota": 9})";
  return {
      {"ClusterQueue", "", queue(flavors(one)), ""},
      {"ClusterQueue", "", queue(flavors(one, R"("cpu", "memory")")),
       "spec.resourceGroups[0]: Invalid value: flavors must have the same number of resources as "
       "the "
       "coveredResources"},
      {"ClusterQueue", "", queue(R"("flavorFungibility": {"whenCanBorrow": "MayStopSearch",
                "whenCanPreempt": "TryNextFlavor", "preference": "BorrowingOverPreemption"})"),
       "spec.flavorFungibility: Invalid value: preference can only be set when both whenCanBorrow "
       "and "
       "whenCanPreempt are TryNextFlavor"},
      {"ClusterQueue", "", queue(R"("preemption": {"reclaimWithinCohort": "Never",
                "borrowWithinCohort": {"policy": "LowerPriority"}})"),
       "spec.preemption: Invalid value: reclaimWithinCohort=Never and "
       "borrowWithinCohort.Policy!=Never"},
      {"ClusterQueue", "",
       queue(flavors(R"({"name": "cpu", "nominalQuota": 9, "borrowingLimit": 1})")),
       "spec: Invalid value: borrowingLimit must be nil when cohort is empty"},
      {"ClusterQueue", "",
       queue(flavors(R"({"name": "cpu", "nominalQuota": 9, "borrowingLimit": 1})")),
       "spec: Invalid value: borrowingLimit must be nil when cohort is empty", "v1beta1"},
      {"ClusterQueue", "",
       queue(R"("cohort": "c", )" +
             flavors(
                 R"({"name": "cpu", "nominalQuota": 9, "borrowingLimit": 1, "lendingLimit": 9})")),
       "", "v1beta1"},
      {"ClusterQueue", "",
       queue(flavors(R"({"name": "cpu", "nominalQuota": 9, "lendingLimit": "1"})")),
       "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"1\": must be "
       "nil "
       "when cohort is empty"},
      {"ClusterQueue", "",
       queue(R"("cohortName": "c", )" +
             flavors(R"({"name": "cpu", "nominalQuota": "9", "lendingLimit": "10"})")),
       "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"10\": must "
       "be less "
       "than or equal to the nominalQuota"},
      {"ClusterQueue", "",
       queue(R"("cohortName": "c", )" +
             flavors(R"({"name": "memory", "nominalQuota": "-1", "borrowingLimit": "-2"})")),
       "[spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: \"memory\": must "
       "match the "
       "name in coveredResources, spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "
       "Invalid "
       "value: \"-1\": must be greater than or equal to 0, "
       "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"-2\": must "
       "be "
       "greater than or equal to 0]"},
      {"ClusterQueue", "", queue(R"("resourceGroups": [
           {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]},
           {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}])"),
       "[spec.resourceGroups[1].coveredResources[0]: Duplicate value: \"cpu\", "
       "spec.resourceGroups[1].flavors[0].name: Duplicate value: \"f\"]"},
      {"ClusterQueue", "", queue(R"("fairSharing": {"weight": "-1"})"),
       "spec.fairSharing: Invalid value: \"-1\": must be greater than or equal to 0"},
      {"ClusterQueue", "", queue(R"("fairSharing": {"weight": "1n"})"),
       "spec.fairSharing: Invalid value: \"1n\": When not 0, weight must be > 10e-9"},
      {"ClusterQueue", "",
       queue(R"("namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]})"),
       "spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when "
       "`operator` is 'In' or 'NotIn'"},
      {"ClusterQueue", "", queue(flavors(one) + R"(, "admissionChecksStrategy": {"admissionChecks":
           [{"name": "c", "onFlavors": ["f", "x"]}]})"),
       "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Not found: \"x\""},
      {"ClusterQueue", queue(flavors(one)),
       queue(R"("cohortName": "c", "queueingStrategy": "StrictFIFO")"), ""},
      {"Cohort", "", queue(flavors(one)), ""},
      {"Cohort", "", queue(flavors(one, R"("cpu", "memory")")),
       "spec.resourceGroups[0]: Invalid value: flavors must have the same number of resources as "
       "the "
       "coveredResources"},
      {"Cohort", "", queue(flavors(R"({"name": "cpu", "nominalQuota": 9, "borrowingLimit": "1"})")),
       "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: \"1\": must "
       "be nil "
       "when parent is empty"},
      {"Cohort", "",
       queue(R"("parentName": "p", )" +
             flavors(R"({"name": "cpu", "nominalQuota": 1, "lendingLimit": "5"})")),
       ""},
      {"LocalQueue", queue(R"("clusterQueue": "a")"), queue(R"("clusterQueue": "b")"),
       "spec.clusterQueue: Invalid value: field is immutable"},
  };
}

std::vector<Row> others() {
  const auto tolerated = [](std::string_view toleration) {
    return queue(fmt::format(R"("tolerations": [{}])", toleration));
  };
  const std::string on_topology = R"("topologyName": "t", "nodeLabels": {"a": "b"})";
  return {
      {"ResourceFlavor", "", queue(""), ""},
      {"ResourceFlavor", "", queue(R"("topologyName": "t")"),
       "spec: Invalid value: at least one nodeLabel is required when topology is set"},
      {"ResourceFlavor", queue(on_topology),
       queue(R"("topologyName": "t", "nodeLabels": {"a": "c"})"),
       "spec: Invalid value: nodeLabels are immutable when topologyName is set"},
      {"ResourceFlavor", queue(on_topology),
       queue(on_topology + R"(, "tolerations": [{"key": "a"}])"),
       "spec: Invalid value: tolerations are immutable when topologyName is set"},
      {"ResourceFlavor", queue(on_topology), queue(R"("nodeLabels": {"a": "b"})"),
       "spec: Invalid value: topologyName is immutable when topologyName is set"},
      {"ResourceFlavor", "", queue(R"("nodeTaints": [{"key": "a", "effect": "Foo"}])"),
       "spec.nodeTaints: Invalid value: supported taint effect values: 'NoSchedule', "
       "'PreferNoSchedule', 'NoExecute'"},
      {"ResourceFlavor", "", tolerated(R"({"operator": "Equal"})"),
       "spec.tolerations: Invalid value: operator must be Exists when 'key' is empty, which means "
       "'match "
       "all values and all keys'"},
      {"ResourceFlavor", "", tolerated(R"({"key": "a", "tolerationSeconds": 1})"),
       "spec.tolerations: Invalid value: effect must be 'NoExecute' when 'tolerationSeconds' is "
       "set"},
      {"ResourceFlavor", "", tolerated(R"({"key": "a", "operator": "Foo"})"),
       "spec.tolerations: Invalid value: supported toleration values: 'Equal'(default), 'Exists'"},
      {"ResourceFlavor", "", tolerated(R"({"key": "a", "operator": "Exists", "value": "v"})"),
       "spec.tolerations: Invalid value: a value must be empty when 'operator' is 'Exists'"},
      {"ResourceFlavor", "", tolerated(R"({"key": "a", "effect": "Foo"})"),
       "spec.tolerations: Invalid value: supported taint effect values: 'NoSchedule', "
       "'PreferNoSchedule', 'NoExecute'"},
      {"ResourceFlavor", "",
       queue(
           R"("nodeTaints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}])"),
       "spec.nodeTaints[1]: Duplicate value: {\"effect\":\"NoSchedule\",\"key\":\"a\"}: taints "
       "must be "
       "unique by key and effect pair"},
      {"Topology", "",
       queue(R"("levels": [{"nodeLabel": "a"}, {"nodeLabel": "kubernetes.io/hostname"}])"), ""},
      {"Topology", "", queue(R"("levels": [{"nodeLabel": "a"}, {"nodeLabel": "a"}])"),
       "spec.levels: Invalid value: must be unique"},
      {"Topology", "",
       queue(R"("levels": [{"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "a"}])"),
       "spec.levels: Invalid value: the kubernetes.io/hostname label can only be used at the "
       "lowest level "
       "of topology"},
      {"Topology", queue(R"("levels": [{"nodeLabel": "a"}])"),
       queue(R"("levels": [{"nodeLabel": "b"}])"),
       "spec.levels: Invalid value: field is immutable"},
      {"AdmissionCheck", queue(R"("controllerName": "a")"), queue(R"("controllerName": "b")"),
       "spec.controllerName: Invalid value: field is immutable"},
      {"MultiKueueCluster", "", queue(R"("clusterSource": {})"),
       "spec.clusterSource: Invalid value: exactly one of the fields in [kubeConfig "
       "clusterProfileRef] "
       "must be set"},
      {"MultiKueueConfig", "", queue(R"("clusters": ["a", "a"])"),
       "spec.clusters: Invalid value: must be unique"},
  };
}

std::vector<Row> workloads() {
  const std::string with_class =
      R"(, "priority": 1, "priorityClassRef": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "a"})";
  const std::string with_other_name =
      R"(, "priority": 1, "priorityClassRef": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "b"})";
  const std::string with_kueue_class =
      R"(, "priority": 1, "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "a"})";
  const std::string old_class =
      R"(, "priority": 1, "priorityClassName": "a", "priorityClassSource": "scheduling.k8s.io/priorityclass")";
  const std::string old_other =
      R"(, "priority": 1, "priorityClassName": "b", "priorityClassSource": "scheduling.k8s.io/priorityclass")";
  const std::string old_kueue =
      R"(, "priority": 1, "priorityClassName": "a", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass")";
  const std::string admitted = conditions("", {"QuotaReserved", "Admitted"});
  return {
      {"Workload", "", workload(""), ""},
      {"Workload", "",
       workload(
           R"(, "priorityClassRef": {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "a"})"),
       "spec: Invalid value: priority should not be nil when priorityClassRef is set"},
      {"Workload", "", workload(R"(, "priorityClassName": "a")"),
       "spec: Invalid value: priority should not be nil when priorityClassName is set", "v1beta1"},
      {"Workload", "",
       workload(
           R"(, "priority": 1, "priorityClassRef": {"group": "scheduling.k8s.io", "kind": "WorkloadPriorityClass", "name": "a"})"),
       "spec.priorityClassRef: Invalid value: only the PriorityClass kind is allowed for the "
       "scheduling.k8s.io group"},
      {"Workload", "",
       workload(
           R"(, "priority": 1, "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "PriorityClass", "name": "a"})"),
       "spec.priorityClassRef: Invalid value: only the WorkloadPriorityClass kind is allowed for "
       "the "
       "kueue.x-k8s.io group"},
      {"Workload", "",
       R"({"metadata": {"name": "w"}, "spec": {"podSets": [{"name": "a", "count": 1, "minCount": 2, "template": {"spec": {"containers": []}}}]}})",
       "spec.podSets[0]: Invalid value: minCount should be positive and less or equal to count"},
      {"Workload", "",
       R"({"metadata": {"name": "w"}, "spec": {"podSets": [
           {"name": "a", "count": 2, "minCount": 1, "template": {"spec": {"containers": []}}},
           {"name": "b", "count": 2, "minCount": 1, "template": {"spec": {"containers": []}}}]}})",
       "spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
      {"Workload", "",
       R"({"metadata": {"name": "w"}, "spec": {"podSets": [{"name": "a", "template": {"spec": {"containers":
           [{"name": "c", "resources": {"requests": {"pods": "1", "cpu": "-1"}}}]}}}]}})",
       "[spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: "
       "\"-1\": must "
       "be greater than or equal to 0, "
       "spec.podSets[0].template.spec.containers[0].resources.requests[pods]"
       ": Invalid value: \"pods\": the key is reserved for internal kueue use]"},
      {"Workload", workload("", reserved()), workload(with_class, reserved()),
       "<nil>: Invalid value: priorityClassRef is immutable while workload quota reserved"},
      {"Workload", workload(with_class, reserved()), workload(with_other_name, reserved()),
       "<nil>: Invalid value: priorityClassRef.name is immutable for "
       "scheduling.k8s.io/priorityclass while "
       "workload quota reserved"},
      {"Workload", workload(with_class, reserved()), workload(with_kueue_class, reserved()),
       "[<nil>: Invalid value: priorityClassRef.group is immutable while workload quota reserved, "
       "<nil>: "
       "Invalid value: priorityClassRef.kind is immutable while workload quota reserved]"},
      {"Workload", workload(old_class, reserved()), workload(old_other, reserved()),
       "<nil>: Invalid value: priorityClassName is immutable while workload quota reserved and "
       "priorityClassSource is not equal to kueue.x-k8s.io/workloadpriorityclass",
       "v1beta1"},
      {"Workload", workload(old_class, reserved()), workload(old_kueue, reserved()),
       "<nil>: Invalid value: priorityClassSource is immutable while workload quota reserved",
       "v1beta1"},
      {"Workload", workload(R"(, "queueName": "a")", reserved()), workload(R"(, "queueName": "b")"),
       "<nil>: Invalid value: queueName is immutable while workload quota reserved"},
      {"Workload", workload(R"(, "queueName": "a")"), workload(R"(, "queueName": "b")"), ""},
      {"Workload", workload("", admitted), workload(R"(, "maximumExecutionTimeSeconds": 5)"),
       "<nil>: Invalid value: maximumExecutionTimeSeconds is immutable while workload quota "
       "reserved"},
      {"Workload", workload("", R"({"clusterName": "a"})"), workload("", R"({"clusterName": "b"})"),
       "status: Invalid value: clusterName is immutable once set", "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload("", R"({"clusterName": "a", "nominatedClusterNames": ["a"]})"),
       "status: Invalid value: clusterName and nominatedClusterNames are mutually exclusive",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload(
           "",
           reserved(
               R"("admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "count": 2},
           {"name": "x", "count": 1}]},)")),
       "<nil>: Invalid value: podSetAssignments must have the same number of podSets as the spec",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload(
           "",
           reserved(
               R"("admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "x", "count": 2,
           "resourceUsage": {"cpu": "1m", "memory": "3"}}]},)")),
       "[status.admission.podSetAssignments[0].name: Not found: \"x\", "
       "status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: \"1m\": is not a "
       "multiple "
       "of 2, status.admission.podSetAssignments[0].resourceUsage[memory]: Invalid value: \"3\": "
       "is not a "
       "multiple of 2]",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload(
           "", R"({"reclaimablePods": [{"name": "main", "count": 3}, {"name": "x", "count": 1}]})"),
       "[status.reclaimablePods[main].count: Invalid value: 3: should be less or equal to 2, "
       "status.reclaimablePods[x].name: Unsupported value: \"x\": supported values: \"main\"]",
       "v1beta2", "status"},
      {"Workload", workload("", reserved(R"("reclaimablePods": [{"name": "main", "count": 2}],)")),
       workload("", reserved(R"("reclaimablePods": [{"name": "main", "count": 1}],)")),
       "status.reclaimablePods[main].count: Invalid value: 1: cannot be less then 2", "v1beta2",
       "status"},
      {"Workload", workload("", reserved(R"("reclaimablePods": [{"name": "main", "count": 2}],)")),
       workload("", reserved()), "status.reclaimablePods[main]: Required value: cannot be removed",
       "v1beta2", "status"},
      {"Workload",
       workload(
           "",
           reserved(
               R"("admission": {"clusterQueue": "q", "podSetAssignments": [{"name": "main"}]},)")),
       workload(
           "",
           reserved(
               R"("admission": {"clusterQueue": "r", "podSetAssignments": [{"name": "main"}]},)")),
       "status.admission: Invalid value: "
       "{\"clusterQueue\":\"r\",\"podSetAssignments\":[{\"name\":\"main\"}]}: "
       "field is immutable",
       "v1beta2", "status"},
      {"Workload", workload("", updates(R"({"key": "a", "operator": "Exists"})")),
       workload("", updates(R"({"key": "b", "operator": "Exists"})")),
       "status.admissionChecks[0].podSetUpdates: Invalid value: "
       "[{\"name\":\"main\",\"tolerations\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}]: field is "
       "immutable",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"), workload("", updates(R"({"operator": "Equal"})")),
       "status.admissionChecks[0].podSetUpdates[0].tolerations: Invalid value: operator must be "
       "Exists when "
       "'key' is empty, which means 'match all values and all keys'",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload("", assigned(R"({"levels": ["a"], "slices": [{"domainCount": 2,
           "valuesPerLevel": [{"individual": {"roots": ["x"]}}], "podCounts": {"individual": [1]}}]})")),
       "[status.admission.podSetAssignments[0].topologyAssignment.slices[0]: Invalid value: "
       "podCounts.individual must have length equal to domainCount, "
       "status.admission.podSetAssignments[0].topologyAssignment.slices[0]: Invalid value: "
       "valuesPerLevel.individual, if set, must have roots of length equal to domainCount of this "
       "TopologyAssignmentSlice]",
       "v1beta2", "status"},
      {"Workload", workload("", "{}"),
       workload(
           "",
           assigned(R"({"levels": ["a", "b"], "slices": [{"domainCount": 1, "valuesPerLevel": [{}],
           "podCounts": {}}]})")),
       "[status.admission.podSetAssignments[0].topologyAssignment.slices[0].podCounts: Invalid "
       "value: exactly "
       "one of the fields in [universal individual] must be set, "
       "status.admission.podSetAssignments[0].topologyAssignment.slices[0].valuesPerLevel[0]: "
       "Invalid value: "
       "exactly one of the fields in [universal individual] must be set, "
       "status.admission.podSetAssignments[0].topologyAssignment: Invalid value: valuesPerLevel "
       "must have the "
       "same length as the number of levels in this TopologyAssignment]",
       "v1beta2", "status"},
  };
}

INSTANTIATE_TEST_SUITE_P(Queues, Kueue, testing::ValuesIn(cluster_queues()));
INSTANTIATE_TEST_SUITE_P(Others, Kueue, testing::ValuesIn(others()));
INSTANTIATE_TEST_SUITE_P(Workloads, Kueue, testing::ValuesIn(workloads()));

void collect_messages(const api::Schema& schema, std::set<std::string>& messages) {
  for (const api::CelRule& rule : schema.rules) messages.insert(rule.message);
  for (const api::Field& field : schema.fields) collect_messages(*field.schema, messages);
  if (schema.elem) collect_messages(*schema.elem, messages);
}

TEST(KueueRules, EveryRuleOfTheDefinitionsHasARowAbove) {
  std::set<std::string> messages;
  for (const api::Resource* const resource : api::Registry::builtin().resources())
    if (resource->gvk.group == "kueue.x-k8s.io") collect_messages(*resource->schema, messages);
  ASSERT_GT(messages.size(), 30U);
  std::string told;
  for (const auto& rows : {cluster_queues(), others(), workloads()})
    for (const Row& row : rows) told += row.fault + "\n";
  for (const std::string& message : messages)
    EXPECT_THAT(told, testing::HasSubstr("Invalid value: " + message));
}

TEST(KueueObjects, AreKeptWhileInUse) {
  const World world;
  for (const std::string_view kind : {"ClusterQueue", "ResourceFlavor"}) {
    const Outcome made = world.create("kueue.x-k8s.io/v1beta2", kind, queue(""));
    ASSERT_EQ(made.message(), "");
    EXPECT_THAT(made.at({"metadata", "finalizers"}),
                json::IsJson(R"(["kueue.x-k8s.io/resource-in-use"])"));
  }
}

TEST(KueueObjects, DropPartialAdmissionWhenItIsOff) {
  World world;
  ASSERT_TRUE(world.gates.set("PartialAdmission=false"));
  const Outcome made = world.create("kueue.x-k8s.io/v1beta2", "Workload",
                                    R"({"metadata": {"name": "w"}, "spec": {"podSets": [
      {"name": "a", "count": 2, "minCount": 1, "template": {"spec": {"containers": []}}}]}})");
  ASSERT_EQ(made.message(), "");
  EXPECT_FALSE(made.at({"spec", "podSets"}).item(0).has("minCount"));
}

}  // namespace kueue_test
}  // namespace muster::admission
