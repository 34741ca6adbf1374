#include "sim/simulation.h"

#include <gmock/gmock.h>

namespace muster::sim {
namespace simulation_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kTwoJobs = R"(
objects:
- apiVersion: jobset.x-k8s.io/v1alpha2
  kind: JobSet
  metadata: {name: two}
  spec:
    replicatedJobs:
    - name: a
      replicas: 2
      template: {spec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}
pods:
- outcome: succeed
  after: 5s
)";

sim::Run run(const RunOptions& options) {
  const auto scenario = parse_scenario("two", kTwoJobs);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  auto done = run_scenario(*scenario, options);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return *std::move(done);
}

TEST(Simulation, RunsAJobSetToItsEnd) {
  const sim::Run done = run({});
  EXPECT_THAT(done.violations, IsEmpty());
  EXPECT_THAT(done.state, HasSubstr(R"("terminalState":"Completed")"));
  EXPECT_LT(done.took, std::chrono::minutes(1));
}

TEST(Simulation, WaitsForPodsThatRunForLong) {
  const auto scenario = parse_scenario("s", R"(
objects:
- apiVersion: batch/v1
  kind: Job
  metadata: {name: long}
  spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: any}]}}}
pods: [{outcome: succeed, after: 10m}]
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto done = run_scenario(*scenario, {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(done->state, HasSubstr("CompletionsReached"));
  EXPECT_GE(done->took, std::chrono::minutes(10));
}

TEST(Simulation, AForegroundDeletionWaitsForLateKindsOnlyWhereKindsComeApart) {
  const auto scenario = parse_scenario("s", R"(
objects:
- apiVersion: batch/v1
  kind: Job
  metadata: {name: held}
  spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: any}]}}}
steps:
- {after: 1s, delete: {kind: Job, name: held, propagation: Foreground}}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto feed = run_scenario(*scenario, {.reads = Reads::kFeed});
  ASSERT_TRUE(feed) << feed.error().message;
  EXPECT_LT(feed->took, std::chrono::milliseconds(1'100));
  const auto apart = run_scenario(*scenario, {.reads = Reads::kListWatch});
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_GE(apart->took, std::chrono::milliseconds(1'500));
}

TEST(Simulation, TheSameSeedGivesTheSameHistory) {
  EXPECT_EQ(run({.seed = 7}).hash, run({.seed = 7}).hash);
  EXPECT_NE(run({.seed = 7}).hash, run({.seed = 8}).hash);
  const RunOptions rough{.seed = 7, .rates = FaultRates::rough()};
  EXPECT_EQ(run(rough).hash, run(rough).hash);
}

constexpr std::string_view kOneJob = R"(
objects:
- apiVersion: batch/v1
  kind: Job
  metadata: {name: one}
  spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: any, resources: {requests: {cpu: "8"}}}]}}}
)";

// The same Job in a cluster of its own kind.
sim::Run run_job(std::string_view cluster, const RunOptions& options = {}) {
  const auto scenario = parse_scenario("s", std::string(cluster) + std::string(kOneJob));
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  auto done = run_scenario(*scenario, options);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return *std::move(done);
}

constexpr std::string_view kRan = R"("succeeded":1)";

TEST(Simulation, NodesHoldWhatTheScenarioSays) {
  EXPECT_THAT(run_job("nodes: [{allocatable: {cpu: 7}}]").state, Not(HasSubstr(kRan)));
  EXPECT_THAT(run_job("nodes: [{allocatable: {cpu: 8}}]").state, HasSubstr(kRan));
  EXPECT_THAT(run_job("nodes: [{taints: [{key: a, effect: NoSchedule}]}]").state,
              Not(HasSubstr(kRan)));
}

TEST(Simulation, StepsChangeNodes) {
  constexpr std::string_view kSmall = "nodes: [{allocatable: {cpu: 7}}]\nsteps: [{after: 9s, ";
  const std::string small(kSmall);
  EXPECT_THAT(run_job(small + "resizeNode: {name: node-0, allocatable: {cpu: 8}}}]").state,
              HasSubstr(kRan));
  EXPECT_THAT(run_job(small + "addNodes: {allocatable: {cpu: 8}}}]").state, HasSubstr(kRan));
  const std::string cordoned =
      small + "cordon: node-0}, {resizeNode: {name: node-0, allocatable: {cpu: 8}}}";
  EXPECT_THAT(run_job(cordoned + "]").state, Not(HasSubstr(kRan)));
  EXPECT_THAT(run_job(cordoned + ", {uncordon: node-0}]").state, HasSubstr(kRan));
}

TEST(Simulation, ADrainedNodeLosesItsPodsAndTakesNoMore) {
  const sim::Run done = run_job(R"(
nodes: 1
pods: [{outcome: run}]
steps:
- {after: 5s, drain: node-0}
)");
  EXPECT_THAT(done.violations, IsEmpty());
  EXPECT_THAT(done.state, HasSubstr(R"("status":{"phase":"Pending"})"));
  EXPECT_THAT(done.state, HasSubstr(R"("failed":1)"));
}

TEST(Simulation, ADrainThatABudgetForbidsWaitsAndIsTold) {
  const auto scenario = parse_scenario("s", R"(
nodes: 1
objects:
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: all}
  spec: {minAvailable: 1, selector: {}}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: one}
  spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: any}]}}}
pods: [{outcome: run}]
steps:
- {after: 5s, drain: node-0}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_THAT(run_scenario(*scenario, {})->violations, ElementsAre("1 pods wait to be evicted"));
}

constexpr std::string_view kTwoProcesses = R"(
processes: [{name: scheduler, runs: [scheduler]}, {name: controllers, replicas: 2}]
)";

TEST(Simulation, ProcessesAreCountedByThemselves) {
  const sim::Run done = run_job(kTwoProcesses);
  EXPECT_THAT(done.violations, IsEmpty());
  EXPECT_THAT(done.state, HasSubstr(kRan));
  ASSERT_THAT(done.processes, SizeIs(3));
  EXPECT_EQ(done.processes[0].name, "scheduler");
  EXPECT_EQ(done.processes[0].writes, 1u);  // the binding
  EXPECT_GT(done.processes[1].writes, 0u);
  EXPECT_EQ(done.processes[2].writes, 0u);  // it does not lead
  EXPECT_THAT(done.writes, Contains(AllOf(StartsWith("scheduler: "), HasSubstr("/binding"))));
}

TEST(Simulation, ALeaderThatDiesIsReplaced) {
  const sim::Run done =
      run_job(kTwoProcesses, {.crash_point = CrashPoint{.process = "controllers-0", .write = 2}});
  EXPECT_THAT(done.state, HasSubstr(kRan));
  EXPECT_EQ(done.processes[1].lives, 2);
  EXPECT_GT(done.processes[2].writes, 0u);
  EXPECT_GE(done.took, std::chrono::seconds(15)) << "the dead leader's lease ran out first";
}

TEST(Simulation, AProcessDiesAlone) {
  const sim::Run done = run_job(
      kTwoProcesses,
      {.reads = Reads::kFeed, .crash_point = CrashPoint{.process = "scheduler", .write = 1}});
  EXPECT_THAT(done.state, HasSubstr(kRan));
  EXPECT_EQ(done.processes[0].lives, 2);
  EXPECT_EQ(done.processes[1].lives, 1);
}

TEST(Simulation, AWriteThatIsRefusedIsNamed) {
  const auto scenario = parse_scenario("s", R"(
objects:
- {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: x}, spec: {network: {subdomain: A_B}}}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto done = run_scenario(*scenario, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("create jobsets.jobset.x-k8s.io default/x: "),
                                          HasSubstr("spec.network.subdomain")));
}

}  // namespace simulation_test
}  // namespace muster::sim
