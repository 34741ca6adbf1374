#include "sim/simulation.h"

#include <gmock/gmock.h>

namespace muster::sim {
namespace simulation_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(Simulation, TheSameSeedGivesTheSameHistory) {
  EXPECT_EQ(run({.seed = 7}).hash, run({.seed = 7}).hash);
  EXPECT_NE(run({.seed = 7}).hash, run({.seed = 8}).hash);
  const RunOptions rough{.seed = 7, .rates = FaultRates::rough()};
  EXPECT_EQ(run(rough).hash, run(rough).hash);
}

TEST(Scenario, SaysWhatIsNotUnderstood) {
  const auto wrong = [](std::string_view yaml) {
    const auto read = parse_scenario("s", yaml);
    return read ? std::string() : read.error().message;
  };
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"nodez: 3", "s: unknown field \"nodez\""},
      {"nodes: two", "s: nodes must be a number from 0 to 10000, not \"two\""},
      {"featureGates: {RestartJob: true}",
       "s: featureGates must be a text, not {\"RestartJob\":true}"},
      {"pods: {outcome: fail}", "s: pods must be a list"},
      {"pods: [{outcome: run}, {outcome: explode}]",
       "s: pods[1]: outcome \"explode\" is none of succeed, fail, run, hang"},
      {"pods: [{match: {attempt: 0}, outcome: fail}]", "s: pods[0]: attempt must be a text, not 0"},
      {"pods: [{outcome: fail, exitCode: none}]",
       "s: pods[0]: exitCode must be a number from 1 to 10000, not \"none\""},
      {"steps: [{after: soon, loseNode: node-0}]",
       "s: steps[0]: \"soon\" is not a duration like 3s"},
      {"steps: [{after: 1s}]", "s: steps[0]: a step is one of patch, delete, create, loseNode"},
      {"steps: [{loseNode: node-0, delete: {kind: Pod, name: p}}]",
       "s: steps[0]: a step is one of patch, delete, create, loseNode"},
      {"steps: [{delete: {kind: Pod}}]", "s: steps[0]: a name is missing"},
      {"steps: [{patch: {kind: Pod, name: p}}]", "s: steps[0]: with must be a mapping: the patch"},
      {"steps: [{loseNode: node-9}]", "s: steps[0]: there is no Node /node-9 by then"},
      {"steps: [{delete: {kind: JobSet, name: x}}]",
       "s: steps[0]: there is no JobSet default/x by then"},
      {"objects: [{kind: Jobset, apiVersion: v1}]",
       "s: objects[0]: unknown kind \"Jobset\" of \"v1\""},
      {"", "s: a scenario is one YAML document"},
  };
  for (const auto& [yaml, why] : rows) EXPECT_EQ(wrong(yaml), why) << yaml;
}

TEST(Scenario, AWriteThatIsRefusedIsNamed) {
  const auto scenario = parse_scenario("s", R"(
objects:
- {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: x}, spec: {replicatedJob: []}}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto done = run_scenario(*scenario, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("create jobsets.jobset.x-k8s.io default/x: "),
                                          HasSubstr("unknown field \"spec.replicatedJob\"")));
}

}  // namespace simulation_test
}  // namespace muster::sim
