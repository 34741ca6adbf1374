#include "sim/simulation.h"

#include <gmock/gmock.h>

namespace muster::sim {
namespace {

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
  EXPECT_EQ(wrong("nodez: 3"), "s: unknown field \"nodez\"");
  EXPECT_THAT(wrong("pods: [{outcome: explode}]"),
              HasSubstr("is none of succeed, fail, run, hang"));
  EXPECT_THAT(wrong("steps: [{after: soon, loseNode: x}]"), HasSubstr("is not a duration"));
  EXPECT_THAT(wrong("objects: [{kind: Jobset, apiVersion: v1}]"), HasSubstr("unknown kind"));
}

}  // namespace
}  // namespace muster::sim
