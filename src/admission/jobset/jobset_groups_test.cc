// Barriers (groupSchedulingConfig) and gangs (gangConfig) of JobSets on create: one row for each
// rule.
#include <gtest/gtest.h>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace jobset_groups_test {

struct Row {
  std::string what;
  std::string jobset;
  std::string fault;  // empty: accepted
};

// How GoogleTest shows a row.
void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class JobSetGroups : public testing::TestWithParam<Row> {};

TEST_P(JobSetGroups, ThatCannotWorkAreRefused) {
  const World world;
  EXPECT_EQ(fault_of(world.create(kJobSetVersion, "JobSet", GetParam().jobset)), GetParam().fault);
}

std::string depends_on(std::string_view target) {
  return fmt::format(R"("dependsOn": [{{"name": "{}", "status": "Ready"}}])", target);
}

std::vector<Row> groups() {
  const std::string gang = R"("gangConfig": {"gangMode": "Gang"})";
  const std::string group = R"("groupSchedulingConfig": {},)";
  std::vector<std::string> nine;
  std::vector<std::string> nine_gangs;
  for (int i = 0; i < 9; ++i) {
    nine.push_back(job(fmt::format("j{}", i)));
    nine_gangs.push_back(job(fmt::format("j{}", i), {.more = gang}));
  }
  return {
      {"a barrier", jobset({job("a"), job("b")}, group), ""},
      {"a barrier's targets exist and are unique",
       jobset({job("a")}, R"("groupSchedulingConfig": {"targetReplicatedJobs": ["a", "a", "x"]},)"),
       "[spec.groupSchedulingConfig.targetReplicatedJobs[1]: Duplicate value: \"a\", "
       "spec.groupSchedulingConfig.targetReplicatedJobs[2]: Invalid value: \"x\": invalid "
       "replicatedJob "
       "name 'x' does not appear in .spec.ReplicatedJobs]"},
      {"a barrier waits at least a second",
       jobset({job("a")}, R"("groupSchedulingConfig": {"timeoutAfterSeconds": 0},)"),
       "spec.groupSchedulingConfig.timeoutAfterSeconds: Invalid value: 0: "
       "spec.groupSchedulingConfig.timeoutAfterSeconds in body should be greater than or equal to "
       "1"},
      {"the barrier's container name is reserved",
       jobset({job("a",
                   {.pod = R"("containers": [{"name": "group-scheduling-init", "image": "i"}])"})},
              group),
       "spec.replicatedJobs[0].template.spec.template.spec.containers[0].name: Invalid value: "
       "\"group-scheduling-init\": the container name is reserved when groupSchedulingConfig is "
       "set"},
      {"among init containers too",
       jobset({job("a", {.pod = R"("containers": [{"name": "c", "image": "i"}],
                                   "initContainers": [{"name": "group-scheduling-init",
                                                       "image": "i"}])"})},
              group),
       "spec.replicatedJobs[0].template.spec.template.spec.initContainers[0].name: Invalid value: "
       "\"group-scheduling-init\": the container name is reserved when groupSchedulingConfig is "
       "set"},
      {"and so is its volume's name",
       jobset({job("a", {.pod = R"("containers": [{"name": "c", "image": "i"}],
                                   "volumes": [{"name": "group-scheduling", "emptyDir": {}}])"})},
              group),
       "spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name: Invalid value: "
       "\"group-scheduling\": the volume name is reserved when groupSchedulingConfig is set"},
      {"without a barrier these names are free",
       jobset({job("a", {.pod = R"("containers": [{"name": "group-scheduling-init", "image": "i"}],
                                   "volumes": [{"name": "group-scheduling", "emptyDir": {}}])"})}),
       ""},
      {"a barrier never opens for a coordinator that depends on it",
       jobset({job("a"), job("b", {.more = depends_on("a")})},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["a"]},
                 "coordinator": {"replicatedJob": "b"},)"),
       "spec.groupSchedulingConfig: Invalid value: {\"targetReplicatedJobs\":[\"a\"]}: "
       "replicatedJob b of the coordinator starts after a, which would wait for it at the barrier"},
      {"or comes after it",
       jobset({job("a"), job("b")},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["a"]},
                 "startupPolicy": {"startupPolicyOrder": "InOrder"},
                 "coordinator": {"replicatedJob": "b"},)"),
       "spec.groupSchedulingConfig: Invalid value: {\"targetReplicatedJobs\":[\"a\"]}: "
       "replicatedJob b of the coordinator starts after a, which would wait for it at the barrier"},
      {"a coordinator that is there before may be waited for",
       jobset({job("a"), job("b", {.more = depends_on("a")})},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["b"]},
                 "coordinator": {"replicatedJob": "a"},)"),
       ""},
      {"in order, a barrier of one entry opens",
       jobset({job("a"), job("b")},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["b"]},
                 "startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       ""},
      {"a barrier across a dependency never opens",
       jobset({job("a"), job("b", {.more = depends_on("a")}), job("c", {.more = depends_on("b")})},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["a", "c"]},)"),
       "spec.groupSchedulingConfig: Invalid value: {\"targetReplicatedJobs\":[\"a\",\"c\"]}: "
       "replicatedJob "
       "c starts after a (dependsOn) but both would wait for each other at the barrier"},
      {"a barrier on one side of a dependency opens",
       jobset({job("a"), job("b", {.more = depends_on("a")}), job("c", {.more = depends_on("a")})},
              R"("groupSchedulingConfig": {"targetReplicatedJobs": ["b", "c"]},)"),
       ""},
      {"a barrier across an order never opens",
       jobset({job("a"), job("b")},
              group + R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       "spec.groupSchedulingConfig: Invalid value: {}: replicatedJobs a and b start one after the "
       "other "
       "(startupPolicy InOrder) but would wait for each other at the barrier"},
      {"entries without replicas do not wait",
       jobset({job("a"), job("b", {.replicas = 0})},
              group + R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       ""},
      {"a gang of all", jobset({job("a"), job("b")}, gang + ","), ""},
      {"gangs of entries",
       jobset({job("a", {.more = gang}),
               job("b", {.more = R"("gangConfig": {"gangMode": "ReplicatedGang"})"})}),
       ""},
      {"not both", jobset({job("a", {.more = gang})}, gang + ","),
       "spec.replicatedJobs[0].gangConfig: Invalid value: {\"gangMode\":\"Gang\"}: may not be set "
       "together "
       "with spec.gangConfig"},
      {"Off is no gang",
       jobset({job("a", {.more = R"("gangConfig": {"gangMode": "Off"})"})}, gang + ","), ""},
      {"a template has no group of its own",
       jobset({job("a", {.pod = R"("containers": [], "schedulingGroup": {"podGroupName": "x"})"})},
              gang + ","),
       "spec.replicatedJobs[0].template.spec.template.spec.schedulingGroup: Forbidden: may not be "
       "set "
       "together with gangConfig: the JobSet makes the group"},
      {"at most 8 gangs", jobset(nine_gangs),
       "spec.replicatedJobs: Invalid value: 9: gangConfig makes 9 groups, a Workload can have at "
       "most 8"},
      {"one gang of nine", jobset(nine, gang + ","), ""},
      {"nine in order are nine gangs",
       jobset(nine, gang + R"(, "startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       "spec.replicatedJobs: Invalid value: 9: gangConfig makes 9 groups, a Workload can have at "
       "most 8"},
  };
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string name;
  for (const char c : info.param.what)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

// Half a million texts once took the server half a minute and a gigabyte.
TEST(JobSetGroupsInAChain, AreToldOnePairThatCannotWork) {
  std::vector<std::string> chain = {job("j0")};
  for (int i = 1; i < 100; ++i)
    chain.push_back(job(fmt::format("j{}", i), {.more = depends_on(fmt::format("j{}", i - 1))}));
  EXPECT_EQ(fault_of(World().create(kJobSetVersion, "JobSet",
                                    jobset(chain, R"("groupSchedulingConfig": {},)"))),
            "spec.groupSchedulingConfig: Invalid value: {}: replicatedJob j1 starts after j0 "
            "(dependsOn) but both would wait for each other at the barrier");
}

TEST(RankEnvironment, IsForAllForOneEntryOrForNobody) {
  const World world;
  const auto fault = [&](std::string_view asked) {
    return fault_of(world.create(
        kJobSetVersion, "JobSet",
        fmt::format(
            R"({{"metadata": {{"name": "js", "annotations": {{"muster.dev/rank-env": "{}"}}}},
                        "spec": {{"replicatedJobs": [{}]}}}})",
            asked, job("workers"))));
  };
  for (const char* const good : {"true", "false", "workers"}) EXPECT_EQ(fault(good), "");
  EXPECT_EQ(fault("drivers"),
            "metadata.annotations[muster.dev/rank-env]: Invalid value: \"drivers\": must be true, "
            "false or the name of a replicatedJob");
}

INSTANTIATE_TEST_SUITE_P(All, JobSetGroups, testing::ValuesIn(groups()), row_name);

}  // namespace jobset_groups_test
}  // namespace muster::admission
