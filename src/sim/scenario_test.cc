#include "sim/scenario.h"

#include <gmock/gmock.h>

namespace muster::sim {
namespace scenario_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(std::string_view yaml) {
  const auto read = parse_scenario("s", yaml);
  return read ? std::string() : read.error().message;
}

TEST(Scenario, SaysWhereSomethingIsNotUnderstood) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"nodes: two", "s:1: nodes: must be a number from 0 to 10000, not \"two\""},
      {"featureGates: {RestartJob: true}",
       "s:1: featureGates: must be a text, not {\"RestartJob\":true}"},
      {"pods: {outcome: fail}", "s:1: pods: must be a list"},
      {"pods:\n- outcome: run\n- outcome: explode",
       "s:3: pods[1].outcome: \"explode\" is none of succeed, fail, run, hang"},
      {"pods: [{match: {attempt: 0}, outcome: fail}]",
       "s:1: pods[0].match.attempt: must be a text, not 0"},
      {"pods: [{outcome: fail, exitCode: none}]",
       "s:1: pods[0].exitCode: must be a number from 1 to 10000, not \"none\""},
      {"steps: [{after: soon, loseNode: node-0}]",
       "s:1: steps[0].after: \"soon\" is not a duration like 3s"},
      {"steps: [{after: 1s}]",
       "s:1: steps[0]: a step is one of patch, delete, create, addNodes, loseNode, cordon, "
       "uncordon, drain, resizeNode"},
      {"steps: [{delete: {kind: Pod}}]", "s:1: steps[0].delete.name: a name is missing"},
      {"steps: [{patch: {kind: Pod, name: p}}]",
       "s:1: steps[0].patch.with: must be a mapping: the patch"},
      {"steps: [{loseNode: node-9}]", "s:1: steps[0]: there is no Node node-9 by then"},
      {"steps: [{loseNode: node-1}, {cordon: node-1}]",
       "s:1: steps[1]: there is no Node node-1 by then"},
      {"steps: [{delete: {kind: JobSet, name: x}}]",
       "s:1: steps[0]: there is no JobSet default/x by then"},
      {"objects: [{kind: Pod}]", "s:1: objects[0].apiVersion: is missing"},
      {"", "s: a scenario is one YAML document"},
      {"pods: []\npods: []", "s: line 2: key \"pods\" already set in map"},
  };
  for (const auto& [yaml, why] : rows) EXPECT_EQ(refusal_of(yaml), why) << yaml;
}

TEST(Scenario, GuessesWhatAnUnknownKeyWasMeantToBe) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"nodez: 3", "s:1: unknown field \"nodez\"; did you mean \"nodes\"?"},
      {"nodes: 1\nsteps:\n- after: 1s\n  looseNode: node-0",
       "s:4: steps[0]: unknown field \"looseNode\"; did you mean \"loseNode\"?"},
      {"nodes: [{lables: {}}]",
       "s:1: nodes[0]: unknown field \"lables\"; did you mean \"labels\"?"},
      {"nodes: [{taints: [{key: a, efect: NoSchedule}]}]",
       "s:1: nodes[0].taints[0]: unknown field \"efect\"; did you mean \"effect\"?"},
      {"pods: [{outcom: run}]",
       "s:1: pods[0]: unknown field \"outcom\"; did you mean \"outcome\"?"},
      {"zebra: 1", "s:1: unknown field \"zebra\""},
  };
  for (const auto& [yaml, why] : rows) EXPECT_EQ(refusal_of(yaml), why) << yaml;
}

TEST(Scenario, ManifestsAndPatchesHaveOnlyFieldsOfTheirKind) {
  EXPECT_EQ(refusal_of(R"(
objects:
- apiVersion: jobset.x-k8s.io/v1alpha2
  kind: JobSet
  metadata: {name: x}
  spec:
    replicatedJob: []
)"),
            "s:7: objects[0].spec: unknown field \"replicatedJob\"; did you mean "
            "\"replicatedJobs\"?");
  EXPECT_EQ(refusal_of("steps: [{patch: {kind: Pod, name: p, with: {metadata: {label: {}}}}}]"),
            "s:1: steps[0].patch.with.metadata: unknown field \"label\"; did you mean \"labels\"?");
}

TEST(Scenario, AKindOfSeveralGroupsIsNamedWithItsApiVersion) {
  EXPECT_THAT(refusal_of("alsoCompare: [{kind: Workload}]"),
              AllOf(HasSubstr("s:1: alsoCompare[0].kind: Workload is ambiguous: say apiVersion "),
                    HasSubstr("kueue.x-k8s.io/"), HasSubstr("scheduling.k8s.io/")));
  const auto scenario = parse_scenario(
      "s", "alsoCompare: [{kind: Workload, apiVersion: scheduling.k8s.io/v1alpha2}]");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->compared.back()->qualified(), "workloads.scheduling.k8s.io");
  EXPECT_EQ(refusal_of("alsoCompare: [{kind: Jobset}]"),
            "s:1: alsoCompare[0].kind: there is no kind \"Jobset\"; did you mean \"JobSet\"?");
  EXPECT_EQ(refusal_of("objects: [{kind: Pod, apiVersion: v2}]"),
            "s:1: objects[0].kind: there is no Pod in \"v2\"");
}

std::vector<std::string> names_of(const std::vector<client::Operation>& operations) {
  std::vector<std::string> names;
  for (const client::Operation& each : operations) names.push_back(each.name);
  return names;
}

TEST(Scenario, NodesComeInGroupsAndNoNumberComesTwice) {
  const auto scenario = parse_scenario("s", R"(
nodes:
- {count: 2, labels: {rack: r1}, taints: [{key: a, value: b, effect: NoSchedule}]}
- {prefix: big, allocatable: {cpu: "128", example.com/gpu: "8"}}
steps:
- loseNode: node-1
- addNodes: {count: 2}
- drain: node-3
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_THAT(names_of(scenario->nodes), ElementsAre("node-0", "node-1", "big-0"));
  EXPECT_THAT(names_of(scenario->steps[1].writes), ElementsAre("node-2", "node-3"));
  EXPECT_THAT(scenario->nodes[0].body.text(),
              HasSubstr(R"("labels":{"kubernetes.io/hostname":"node-0","rack":"r1"})"));
  EXPECT_THAT(scenario->nodes[0].body.text(),
              HasSubstr(R"("taints":[{"key":"a","value":"b","effect":"NoSchedule"}])"));
  EXPECT_THAT(scenario->nodes[2].body.text(),
              HasSubstr(R"({"cpu":"128","memory":"256Gi","pods":"256","example.com/gpu":"8"})"));
  EXPECT_THAT(parse_scenario("s", "pods: []")->nodes, testing::SizeIs(4));
}

TEST(Scenario, EveryControllerRunsInOneProcess) {
  const auto scenario = parse_scenario("s", R"(
processes:
- {name: scheduler, runs: [scheduler]}
- {name: controllers, replicas: 2}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto& [scheduler, controllers] = std::tie(scenario->processes[0], scenario->processes[1]);
  EXPECT_THAT(scheduler.controllers, ElementsAre("scheduler"));
  EXPECT_FALSE(scheduler.elects_leader);
  EXPECT_TRUE(controllers.controllers.contains("jobset"));
  EXPECT_FALSE(controllers.controllers.contains("scheduler"));
  EXPECT_TRUE(controllers.elects_leader);

  const std::pair<std::string_view, std::string_view> rows[] = {
      {"processes: [{name: a, runs: [schedular]}]",
       "s:1: processes[0].runs[0]: there is no controller \"schedular\"; did you mean "
       "\"scheduler\"?"},
      {"processes: [{name: a, runs: [job]}, {name: b, runs: [job]}]",
       "s:1: processes[1].runs[0]: job runs in another process already"},
      {"processes: [{name: a, runs: [job]}]", "s:1: processes: no process runs claims"},
      {"processes: [{name: a}, {name: b}]",
       "s:1: processes[1]: only one process can run what is left: say what this one runs"},
      {"processes: [{name: a, replicas: 2, leaderElection: false}]",
       "s:1: processes[0].leaderElection: several replicas must elect a leader"},
      {"processes: [{name: a}, {name: a, runs: []}]",
       "s:1: processes[1]: there are two processes a"},
  };
  for (const auto& [yaml, why] : rows) EXPECT_EQ(refusal_of(yaml), why) << yaml;
}

}  // namespace scenario_test
}  // namespace muster::sim
