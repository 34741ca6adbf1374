// JobSet's validating webhook on create: one row for each row of its contract, and the accepted
// twin.
#include <gtest/gtest.h>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace jobset_validation_test {

struct Row {
  std::string what;
  std::string jobset;
  std::string fault;  // empty: accepted
  std::string gates;
};

// How GoogleTest shows a row.
void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class JobSetCreate : public testing::TestWithParam<Row> {};

TEST_P(JobSetCreate, IsJudgedAsUpstreamJudgesIt) {
  World world;
  ASSERT_TRUE(world.gates.set(GetParam().gates));
  world.add("v1", "PersistentVolumeClaim",
            R"({"metadata": {"name": "kept-js"}, "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem",
                "volumeName": "pv-7"}})");
  const Outcome set = world.create(kJobSetVersion, "JobSet", GetParam().jobset);
  EXPECT_EQ(fault_of(set), GetParam().fault);
}

const std::string kLong(64, 'a');

std::string indexed(std::string_view counts) {
  return fmt::format(R"("completionMode": "Indexed", {})", counts);
}

std::string depends_on(std::string_view target) {
  return fmt::format(R"("dependsOn": [{{"name": "{}", "status": "Ready"}}])", target);
}

std::string claim(std::string_view name, std::string_view more = "",
                  std::string_view spec = R"({"accessModes": ["ReadWriteOnce"]})") {
  return fmt::format(
      R"("volumeClaimPolicies": [{{{} "templates": [{{"metadata": {{"name": "{}"}}, "spec": {}}}]}}],)",
      more, name, spec);
}

std::string mounting(std::string_view name, std::string_view list = "containers") {
  return fmt::format(R"("{}": [{{"name": "m", "image": "i", "volumeMounts":
      [{{"name": "{}", "mountPath": "/d"}}]}}])",
                     list, name);
}

std::string with_rules(std::string_view rules) {
  return fmt::format(R"("failurePolicy": {{"maxRestarts": 1, "rules": [{}]}},)", rules);
}

std::vector<Row> names_and_network() {
  const std::string label_rule =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
      "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
      "'abc-123', "
      "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  return {
      {"a plain set", jobset({job("w")}), ""},
      {"no replicated jobs", jobset({}), ""},
      {"3 a subdomain", jobset({job("w")}, R"("network": {"subdomain": "net"},)"), ""},
      {"3 a subdomain is a DNS label", jobset({job("w")}, R"("network": {"subdomain": "1a"},)"),
       "spec.network.subdomain: Invalid value: \"1a\": " + label_rule},
      {"3 a subdomain has at most 63 letters",
       jobset({job("w")}, fmt::format(R"("network": {{"subdomain": "{}"}},)", kLong)),
       fmt::format(
           "spec.network.subdomain: Invalid value: \"{}\": .spec.network.subdomain is too long, "
           "must be less than 63 characters",
           kLong)},
      {"4 managedBy", jobset({job("w")}, R"("managedBy": "example.com/x",)"), ""},
      {"4 managedBy has a domain", jobset({job("w")}, R"("managedBy": "x",)"),
       "spec.managedBy: Invalid value: \"x\": must be a domain-prefixed path (such as "
       "\"acme.io/foo\")"},
      {"4 managedBy has at most 63 letters",
       jobset({job("w")}, fmt::format(R"("managedBy": "e.com/{}",)", kLong)),
       "spec.managedBy: Too long: may not be more than 63 bytes"},
      {"5 replicas times parallelism fit",
       jobset({job("w", {.replicas = 2, .spec = R"("parallelism": 1073741823)"})}), ""},
      {"5 replicas times parallelism are too many",
       jobset({job("w", {.replicas = 2, .spec = R"("parallelism": 1073741824)"})}),
       "spec.replicatedJobs[0].replicas: Invalid value: 2: the product of replicas and parallelism "
       "must "
       "not exceed 2147483647 for replicatedJob 'w'"},
      {"6 a group name is a DNS label", jobset({job("w", {.more = R"("groupName": "G")"})}),
       "spec.replicatedJobs[0].groupName: Invalid value: \"G\": " + label_rule},
      {"6 a group name has at most 63 letters",
       jobset({job("w", {.more = fmt::format(R"("groupName": "{}")", kLong)})}),
       fmt::format("spec.replicatedJobs[0].groupName: Invalid value: \"{}\": "
                   ".spec.replicatedJob[].groupName is too long, must be less than 63 characters",
                   kLong)},
      {"7 names of Jobs fit",
       jobset({job("w", {.replicas = 10, .spec = ""})}, "", std::string(59, 'a')), ""},
      {"7 names of Jobs are too long",
       jobset({job("w", {.replicas = 11, .spec = ""})}, "", std::string(59, 'a')),
       fmt::format(
           "spec.replicatedJobs[0].name: Invalid value: \"{}-w-10\": JobSet name is too long, "
           "job names generated for this JobSet will exceed 63 characters",
           std::string(59, 'a'))},
      {"7 names of Jobs are DNS labels", jobset({job("W")}),
       "spec.replicatedJobs[0].name: Invalid value: \"js-W-0\": " + label_rule},
      {"8 names of pods fit",
       jobset({job("w", {.spec = R"("parallelism": 10, "completions": 10)"})}, "",
              std::string(51, 'a')),
       ""},
      {"8 names of pods are too long",
       jobset({job("w", {.spec = R"("parallelism": 11, "completions": 11)"})}, "",
              std::string(51, 'a')),
       fmt::format(
           "spec.replicatedJobs[0].name: Invalid value: \"{}-w-0\": JobSet name is too long, pod "
           "names generated for this JobSet will exceed 63 characters",
           std::string(51, 'a'))},
      {"8 of NonIndexed Jobs nobody knows the names",
       jobset({job("w", {.spec = R"("completionMode": "NonIndexed", "completions": 11)"})}, "",
              std::string(51, 'a')),
       ""},
  };
}

std::vector<Row> order() {
  return {
      {"2 the first entry depends on nothing",
       jobset({job("a", {.more = depends_on("b")}), job("b")}),
       "[spec.replicatedJobs[0].dependsOn: Invalid value: [{\"name\":\"b\",\"status\":\"Ready\"}]: "
       "DependsOn can't be set for the first ReplicatedJob, "
       "spec.replicatedJobs[0].dependsOn[0].name: Invalid value: \"b\": replicatedJob: a cannot "
       "depend on "
       "replicatedJob: b]"},
      {"2 nor on an empty list", jobset({job("a", {.more = R"("dependsOn": [])"})}),
       "spec.replicatedJobs[0].dependsOn: Invalid value: []: DependsOn can't be set for the first "
       "ReplicatedJob"},
      {"9 a chain",
       jobset({job("a"), job("b", {.more = depends_on("a")}), job("c", {.more = depends_on("b")})}),
       ""},
      {"9 a fan-in",
       jobset({job("a"), job("b"),
               job("c", {.more = R"("dependsOn": [{"name": "a", "status": "Complete"},
                                                  {"name": "b", "status": "Ready"}])"})}),
       ""},
      {"9 not on a later one", jobset({job("a"), job("b", {.more = depends_on("c")}), job("c")}),
       "spec.replicatedJobs[1].dependsOn[0].name: Invalid value: \"c\": replicatedJob: b cannot "
       "depend on "
       "replicatedJob: c"},
      {"9 not on an unknown one", jobset({job("a"), job("b", {.more = depends_on("x")})}),
       "spec.replicatedJobs[1].dependsOn[0].name: Invalid value: \"x\": replicatedJob: b cannot "
       "depend on "
       "replicatedJob: x"},
      {"9 not on itself", jobset({job("a"), job("b", {.more = depends_on("b")})}),
       "spec.replicatedJobs[1].dependsOn[0].name: Invalid value: \"b\": replicatedJob: b cannot "
       "depend on "
       "replicatedJob: b"},
      {"a dependency is on Ready or Complete",
       jobset({job("a"),
               job("b", {.more = R"("dependsOn": [{"name": "a", "status": "Completed"}])"})}),
       "[spec.replicatedJobs[1].dependsOn[0].status: Unsupported value: \"Completed\": supported "
       "values: "
       "\"Ready\", \"Complete\", <nil>: Invalid value: null: some validation rules were not "
       "checked "
       "because the object was invalid; correct the existing errors to complete validation]"},
      {"dependsOn goes with AnyOrder",
       jobset({job("a"), job("b", {.more = depends_on("a")})},
              R"("startupPolicy": {"startupPolicyOrder": "AnyOrder"},)"),
       ""},
      {"dependsOn does not go with InOrder",
       jobset({job("a"), job("b", {.more = depends_on("a")})},
              R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       "spec: Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive"},
      {"names are unique", jobset({job("a"), job("a")}),
       "spec.replicatedJobs[1]: Duplicate value: {\"name\":\"a\"}"},
      {"replicas are not negative", jobset({job("a", {.replicas = -1})}),
       "spec.replicatedJobs[0].replicas: Invalid value: -1: spec.replicatedJobs[0].replicas in "
       "body should "
       "be greater than or equal to 0"},
      {"replicas may be none", jobset({job("a", {.replicas = 0})}), ""},
  };
}

std::vector<Row> failure_policy() {
  const std::string name_rule =
      ", a failure policy rule name must start with an alphabetic character, optionally followed "
      "by a "
      "string of alphanumeric characters or '_,:', and must end with an alphanumeric character or "
      "'_'";
  return {
      {"1 in-place restart needs its gate",
       jobset({job("w")}, R"("failurePolicy": {"restartStrategy": "InPlaceRestart"},)"),
       "spec.failurePolicy.restartStrategy: Invalid value: \"InPlaceRestart\": InPlaceRestart "
       "restart "
       "strategy cannot be set when InPlaceRestart feature gate is disabled"},
      {"10 to 12 in-place restart asks for much",
       jobset({job("w", {.spec = R"("parallelism": 2, "completions": 3, "backoffLimit": 1)"})},
              R"("failurePolicy": {"restartStrategy": "InPlaceRestart"},)"),
       "[spec.replicatedJobs[0].template.spec.backoffLimit: Invalid value: 1: replicatedJob w: "
       "must be set "
       "to 2147483647 (MaxInt32) when in-place restart is enabled, "
       "spec.replicatedJobs[0].template.spec.podReplacementPolicy: Invalid value: null: "
       "replicatedJob w: "
       "must be set to Failed when in-place restart is enabled, "
       "spec.replicatedJobs[0].template.spec.completions: Invalid value: 3: replicatedJob w: "
       "completions "
       "and parallelism must be set and equal to each other when in-place restart is enabled]",
       "InPlaceRestart=true"},
      {"10 to 12 in-place restart",
       jobset({job("w", {.spec = R"("parallelism": 2, "completions": 2, "backoffLimit": 2147483647,
                                    "podReplacementPolicy": "Failed")"})},
              R"("failurePolicy": {"restartStrategy": "InPlaceRestart"},)"),
       "", "InPlaceRestart=true"},
      {"12 both counts are set",
       jobset(
           {job("w", {.spec = R"("backoffLimit": 2147483647, "podReplacementPolicy": "Failed")"})},
           R"("failurePolicy": {"restartStrategy": "InPlaceRestart"},)"),
       "spec.replicatedJobs[0].template.spec.completions: Invalid value: null: replicatedJob w: "
       "completions and parallelism must be set and equal to each other when in-place restart is "
       "enabled",
       "InPlaceRestart=true"},
      {"14 single restarts need their gate, and nothing else is said",
       jobset({job("w")}, with_rules(R"({"name": "-", "action": "RestartJob"})")),
       "spec.failurePolicy.rules[0].action: Invalid value: \"RestartJob\": RestartJob and "
       "RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob "
       "feature gate "
       "is disabled"},
      {"15 single restarts of at most 1024 replicas",
       jobset({job("w", {.replicas = 1024})},
              with_rules(R"({"action": "RestartJobAndIgnoreMaxRestarts"})")),
       "", "RestartJob=true"},
      {"15 single restarts of more replicas",
       jobset({job("w", {.replicas = 1025})}, with_rules(R"({"action": "RestartJob"})")),
       "spec.failurePolicy.rules[0].action: Invalid value: \"RestartJob\": JobSet cannot have a "
       "failure "
       "policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job "
       "with "
       "replicas > 1024",
       "RestartJob=true"},
      {"16 a rule's name has at most 128 letters",
       jobset({job("w")}, with_rules(fmt::format(R"({{"name": "{}", "action": "FailJobSet"}})",
                                                 std::string(129, 'a')))),
       fmt::format(
           "spec.failurePolicy.rules[0].name: Invalid value: \"{}\": invalid failure policy rule "
           "name of length 129, the rule name must be at least 1 characters long and at most 128 "
           "characters long",
           std::string(129, 'a'))},
      {"17 a rule's name starts with a letter",
       jobset({job("w")}, with_rules(R"({"name": "1a", "action": "FailJobSet"})")),
       "spec.failurePolicy.rules[0].name: Invalid value: \"1a\": invalid failure policy rule name "
       "'1a'" +
           name_rule},
      {"17 and ends with a letter, a digit or '_'",
       jobset({job("w")}, with_rules(R"({"name": "a,:_b:", "action": "FailJobSet"})")),
       "spec.failurePolicy.rules[0].name: Invalid value: \"a,:_b:\": invalid failure policy rule "
       "name "
       "'a,:_b:'" +
           name_rule},
      {"18 a rule's targets exist",
       jobset({job("w")},
              with_rules(R"({"action": "FailJobSet", "targetReplicatedJobs": ["w", "x"]})")),
       "spec.failurePolicy.rules[0].targetReplicatedJobs[1]: Invalid value: \"x\": invalid "
       "replicatedJob "
       "name 'x' in failure policy does not appear in .spec.ReplicatedJobs"},
      {"19 a rule's reasons are known",
       jobset({job("w")}, with_rules(R"({"action": "FailJobSet", "onJobFailureReasons":
           ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded",
            "PodFailurePolicy", "Bad"]})")),
       "spec.failurePolicy.rules[0].onJobFailureReasons[5]: Invalid value: \"Bad\": invalid job "
       "failure "
       "reason 'Bad' in failure policy is not a recognized job failure reason"},
      {"patterns are not looked at",
       jobset({job("w")},
              with_rules(R"({"action": "FailJobSet", "onJobFailureMessagePatterns": ["("]})")),
       ""},
      {"20 names of rules are unique",
       jobset({job("w")}, with_rules(R"({"name": "a", "action": "FailJobSet"},
           {"name": "b", "action": "FailJobSet"}, {"name": "a", "action": "RestartJobSet"})")),
       "spec.failurePolicy.rules: Invalid value: \"a\": rule names are not unique, rules with "
       "indices [0 2] "
       "all have the same name 'a'"},
  };
}

std::vector<Row> targets() {
  const std::string coordinated = job("d", {.replicas = 2, .spec = indexed(R"("completions": 3)")});
  return {
      {"13 targets of the success policy exist",
       jobset({job("w")},
              R"("successPolicy": {"operator": "All", "targetReplicatedJobs": ["w", "x"]},)"),
       "spec.successPolicy.targetReplicatedJobs[1]: Invalid value: \"x\": invalid replicatedJob "
       "name 'x' "
       "does not appear in .spec.ReplicatedJobs"},
      {"a coordinator",
       jobset({coordinated},
              R"("coordinator": {"replicatedJob": "d", "jobIndex": 1, "podIndex": 2},)"),
       ""},
      {"21 the coordinator's entry exists",
       jobset({coordinated}, R"("coordinator": {"replicatedJob": "x"},)"),
       "spec.coordinator.replicatedJob: Invalid value: \"x\": coordinator replicatedJob x does not "
       "exist"},
      {"22 the coordinator's Job exists",
       jobset({coordinated}, R"("coordinator": {"replicatedJob": "d", "jobIndex": 2},)"),
       "spec.coordinator.jobIndex: Invalid value: 2: coordinator job index 2 is invalid for "
       "replicatedJob "
       "d"},
      {"23 the coordinator's Job is indexed",
       jobset({job("d", {.spec = R"("completionMode": "NonIndexed", "completions": 1)"})},
              R"("coordinator": {"replicatedJob": "d"},)"),
       "spec.coordinator.replicatedJob: Invalid value: \"d\": job for coordinator pod must be "
       "indexed "
       "completion mode, and completions number must be set"},
      {"23 and its completions are set",
       jobset({job("d", {.spec = ""})}, R"("coordinator": {"replicatedJob": "d"},)"),
       "spec.coordinator.replicatedJob: Invalid value: \"d\": job for coordinator pod must be "
       "indexed "
       "completion mode, and completions number must be set"},
      {"24 the coordinator's pod exists",
       jobset({coordinated}, R"("coordinator": {"replicatedJob": "d", "podIndex": 3},)"),
       "spec.coordinator.podIndex: Invalid value: 3: coordinator pod index 3 is invalid for "
       "replicatedJob d "
       "job index 0"},
      {"25 the coordinator's address fits a label",
       jobset({coordinated}, R"("coordinator": {"replicatedJob": "d"},)", std::string(40, 'a')),
       fmt::format(
           "spec.coordinator: Invalid value: \"{0}-d-0-0.{0}\": spec will lead to invalid label "
           "value \"{0}-d-0-0.{0}\" for coordinator label \"jobset.sigs.k8s.io/coordinator\" (long "
           "JobSet / ReplicatedJob / SubDomain name?): must be no more than 63 bytes",
           std::string(40, 'a'))},
  };
}

// Added by the server when the schema is broken: the rules beyond it do not run then.
const std::string kNotAllChecked =
    ", <nil>: Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation]";

// So many times the same text, with commas between.
std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += (i == 0 ? "" : ", ") + std::string(text);
  return out;
}

std::vector<Row> volume_claims() {
  const std::string mounts_data = job("w", {.pod = mounting("data")});
  const auto templates = [](int count) {
    return fmt::format(R"({{"templates": [{}]}})",
                       repeated(R"({"metadata": {"name": "data"}})", count));
  };
  return {
      {"a claim that a container mounts", jobset({mounts_data}, claim("data")), ""},
      {"a claim that an init container mounts",
       jobset({job("w", {.pod = mounting("data", "initContainers") + R"(, "containers": [])"})},
              claim("data")),
       ""},
      {"26 names of claims are unique", jobset({mounts_data}, R"("volumeClaimPolicies": [
           {"templates": [{"metadata": {"name": "data"}}]}, {"templates": [{"metadata": {"name": "data"}}]}],)"),
       "spec.volumeClaimPolicies[1].template[0].name: Invalid value: \"data\": names must be "
       "unique for "
       "VolumeClaimPolicies template"},
      {"27 names of claims are subdomains",
       jobset({job("w", {.pod = mounting("Data")})}, claim("Data")),
       "spec.volumeClaimPolicies[0].template[0].name: Invalid value: \"Data\": a lowercase RFC "
       "1123 "
       "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
       "and end "
       "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {"28 names of claims leave room for the set's",
       jobset({job("w", {.pod = mounting(std::string(61, 'd'))})}, claim(std::string(61, 'd'))),
       fmt::format("spec.volumeClaimPolicies[0].template[0].name: Invalid value: \"{}\": "
                   "VolumeClaimPolicies template name is too long",
                   std::string(61, 'd'))},
      {"29 somebody mounts the claim", jobset({job("w")}, claim("data")),
       "spec.replicatedJobs: Invalid value: \"data\": replicatedJob containers don't have a "
       "matching "
       "volumeMount: data from VolumeClaimPolicies"},
      {"30 no volume has the claim's name",
       jobset({job("w", {.pod = mounting("data") +
                                R"(, "volumes": [{"name": "data", "emptyDir": {}}])"})},
              claim("data")),
       "spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name: Invalid value: "
       "\"data\": volume "
       "name conflicts with VolumeClaimPolicy template name: data"},
      {"31 a kept claim that fits is used again, whatever the server added to it",
       jobset(
           {job("w", {.pod = mounting("kept")})},
           claim(
               "kept", R"("retentionPolicy": {"whenDeleted": "Retain"},)",
               R"({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}})")),
       ""},
      {"31 a kept claim that differs is not",
       jobset({job("w", {.pod = mounting("kept")})},
              claim("kept", R"("retentionPolicy": {"whenDeleted": "Retain"},)",
                    R"({"accessModes": ["ReadWriteMany"]})")),
       "spec.volumeClaimPolicies[0].template[0].spec: Invalid value: "
       "{\"accessModes\":[\"ReadWriteMany\"]}: spec does not match existing PVC kept-js in "
       "namespace ns"},
      {"32 a kept claim stays kept", jobset({job("w", {.pod = mounting("kept")})}, claim("kept")),
       "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted: Invalid value: \"Delete\": "
       "retentionPolicy must be retain when PVC exists"},
      {"claims have no namespace of their own",
       jobset({mounts_data}, R"("volumeClaimPolicies": [{"templates": [
           {"metadata": {"name": "data", "namespace": "x"}}]}],)"),
       "spec.volumeClaimPolicies[0]: Invalid value: namespace cannot be set for "
       "VolumeClaimPolicies "
       "templates"},
      {"at most 50 policies",
       jobset({mounts_data},
              fmt::format(R"("volumeClaimPolicies": [{}],)", repeated(R"({"templates": []})", 51))),
       "[spec.volumeClaimPolicies: Too many: 51: must have at most 50 items" + kNotAllChecked},
      {"at most 50 templates",
       jobset({mounts_data}, fmt::format(R"("volumeClaimPolicies": [{}],)", templates(51))),
       "[spec.volumeClaimPolicies[0].templates: Too many: 51: must have at most 50 items" +
           kNotAllChecked},
  };
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string name;
  for (const char c : info.param.what)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(NamesAndNetwork, JobSetCreate, testing::ValuesIn(names_and_network()),
                         row_name);
INSTANTIATE_TEST_SUITE_P(Order, JobSetCreate, testing::ValuesIn(order()), row_name);
INSTANTIATE_TEST_SUITE_P(FailurePolicy, JobSetCreate, testing::ValuesIn(failure_policy()),
                         row_name);
INSTANTIATE_TEST_SUITE_P(Targets, JobSetCreate, testing::ValuesIn(targets()), row_name);
INSTANTIATE_TEST_SUITE_P(VolumeClaims, JobSetCreate, testing::ValuesIn(volume_claims()), row_name);

TEST(JobSetCreateByPrefix, ANameYetToBeGeneratedCountsWithItsSuffix) {
  const World world;
  const Outcome set = world.create(
      kJobSetVersion, "JobSet",
      fmt::format(R"({{"metadata": {{"generateName": "{}"}}, "spec": {{"replicatedJobs": [{}]}}}})",
                  std::string(57, 'a') + "-", job("w", {.spec = ""})));
  EXPECT_THAT(set.message(),
              testing::HasSubstr("job names generated for this JobSet will exceed 63"));
}

TEST(JobSetWarnings, JobsThatRemoveThemselvesRunAgain) {
  const World world;
  const Outcome set =
      world.create(kJobSetVersion, "JobSet",
                   jobset({job("a"), job("b", {.spec = R"("ttlSecondsAfterFinished": 0)"})},
                          R"("ttlSecondsAfterFinished": 5,)"));
  EXPECT_EQ(set.message(), "");
  EXPECT_THAT(set.warnings,
              testing::ElementsAre(testing::HasSubstr(
                  "spec.replicatedJobs[1].template.spec.ttlSecondsAfterFinished: a Job that is "
                  "removed before the JobSet has finished is created and run again")));
}

TEST(JobSetCreateAtOnce, AllFaultsAreTold) {
  const World world;
  const Outcome set =
      world.create(kJobSetVersion, "JobSet",
                   jobset({job("a"), job("b", {.more = depends_on("x")})},
                          R"("managedBy": "x", "coordinator": {"replicatedJob": "y"},
                "successPolicy": {"operator": "Any", "targetReplicatedJobs": ["z"]},)"));
  ASSERT_TRUE(set.error);
  EXPECT_EQ(set.error->code, Code::kInvalid);
  EXPECT_EQ(set.error->causes.size(), 4U) << set.message();
}

}  // namespace jobset_validation_test
}  // namespace muster::admission
