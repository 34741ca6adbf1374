// JobSet's rules on update: one row for each sentence of their contract.
#include <gtest/gtest.h>

#include "admission/jobset/jobset_testing.h"

namespace muster::admission {
namespace jobset_update_test {

struct Row {
  std::string what;
  std::string old;
  std::string now;
  std::string fault;  // its beginning; empty: accepted
  std::string gates;
  std::string condition;  // of the old JobSet, True
};

// How GoogleTest shows a row.
void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class JobSetUpdate : public testing::TestWithParam<Row> {};

TEST_P(JobSetUpdate, IsJudgedAsUpstreamJudgesIt) {
  World world;
  ASSERT_TRUE(world.gates.set(GetParam().gates));
  Outcome old = world.create(kJobSetVersion, "JobSet", GetParam().old);
  ASSERT_EQ(old.message(), "");
  if (!GetParam().condition.empty())
    old.object.set("status",
                   json::parse(*old.arena, fmt::format(R"({{"restarts": 0, "conditions": [{{
        "type": "{}", "status": "True", "reason": "r", "message": "m",
        "lastTransitionTime": "2026-01-01T00:00:00Z"}}]}})",
                                                       GetParam().condition))
                       .value());
  // Clients send the whole object: what was filled in on create comes back with it.
  Outcome now = world.create(kJobSetVersion, "JobSet", GetParam().now);
  if (now.object.is_null()) now.object = json::parse(*now.arena, GetParam().now).value();
  const Outcome updated = world.update(kJobSetVersion, "JobSet", old, now.text());
  if (GetParam().fault.empty()) {
    EXPECT_EQ(updated.message(), "");
  } else {
    EXPECT_THAT(fault_of(updated), testing::StartsWith(GetParam().fault));
  }
}

constexpr std::string_view kSuspended = R"("suspend": true,)";
const std::string kFixedJobs = "spec.replicatedJobs: Invalid value: ";

std::string placed(std::string_view node = "a") {
  return job("w", {.pod = fmt::format(R"("containers": [], "nodeSelector": {{"n": "{}"}},
      "tolerations": [{{"key": "k"}}], "schedulingGates": [{{"name": "g"}}])",
                                      node),
                   .pod_metadata = R"({"labels": {"l": "1"}, "annotations": {"a": "1"}})"});
}

std::vector<Row> rows() {
  const std::string plain = job("w", {.pod = R"("containers": [])"});
  const std::string mounting = job("w", {.pod = R"("containers": [{"name": "c", "image": "i",
      "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])"});
  const std::string elastic = "ElasticJobSet=true";
  const auto scaled = [](int parallelism, int completions) {
    return jobset({job("w", {.spec = fmt::format(R"("parallelism": {}, "completions": {})",
                                                 parallelism, completions)})});
  };
  return {
      {"nothing changes", jobset({plain}), jobset({plain}), ""},
      {"nothing changes where there is no spec", R"({"metadata": {"name": "js"}})",
       R"({"metadata": {"name": "js"}})", ""},
      {"suspend", jobset({plain}), jobset({plain}, kSuspended), ""},
      {"resume", jobset({plain}, kSuspended), jobset({plain}, R"("suspend": false,)"), ""},
      {"ttl", jobset({plain}), jobset({plain}, R"("ttlSecondsAfterFinished": 5,)"), ""},
      {"a coordinator is not judged again", jobset({plain}),
       jobset({plain}, R"("coordinator": {"replicatedJob": "none"},)"), ""},
      {"placement of a suspended set", jobset({plain}, kSuspended), jobset({placed()}, kSuspended),
       ""},
      {"placement with resuming", jobset({plain}, kSuspended), jobset({placed()}), ""},
      {"placement with suspending", jobset({plain}), jobset({placed()}, kSuspended), ""},
      {"placement taken back", jobset({placed()}, kSuspended), jobset({plain}, kSuspended), ""},
      {"placement of a running set", jobset({plain}), jobset({placed()}), kFixedJobs},
      {"an image of a suspended set", jobset({job("w")}, kSuspended),
       jobset({job("w", {.pod = R"("containers": [{"name": "c", "image": "new"}])"})}, kSuspended),
       kFixedJobs},
      {"a template that went through Go's types",
       jobset({job("w", {.pod = R"("containers": [{"name": "c", "image": "i", "tty": false,
           "resources": {"requests": {"cpu": "0.5"}}}])"})}),
       jobset({job("w", {.pod = R"("containers": [{"name": "c", "image": "i",
           "resources": {"requests": {"cpu": "500m"}}}], "volumes": [])"})},
              kSuspended),
       ""},
      {"what is always written there",
       jobset({R"({"name": "w", "template": {"spec": {"template": {"spec": {
           "containers": [{"name": "c", "image": "i"}]}}}}})"}),
       jobset({R"({"name": "w", "template": {"metadata": {}, "spec": {"template": {"metadata": {},
           "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]}}}}})"}),
       ""},
      {"no retries instead of some", jobset({job("w", {.spec = ""})}, kSuspended),
       jobset({job("w", {.spec = R"("backoffLimit": 0)"})}, kSuspended), kFixedJobs},
      {"replicas of a suspended set", jobset({job("w")}, kSuspended),
       jobset({job("w", {.replicas = 2})}, kSuspended), kFixedJobs},
      {"another entry, suspended", jobset({plain}, kSuspended),
       jobset({plain, job("x")}, kSuspended), kFixedJobs},
      {"an entry less", jobset({plain, job("x")}), jobset({plain}), kFixedJobs},
      {"another name", jobset({job("w")}, kSuspended), jobset({job("x")}, kSuspended), kFixedJobs},
      {"another order", jobset({job("a"), job("b")}), jobset({job("b"), job("a")}), kFixedJobs},
      {"managedBy stays", jobset({plain}, R"("managedBy": "a.io/x",)"),
       jobset({plain}, R"("managedBy": "a.io/y",)"),
       "spec.managedBy: Invalid value: \"a.io/y\": field is immutable"},
      {"network stays", jobset({plain}), jobset({plain}, R"("network": {"subdomain": "n"},)"),
       "spec.network: Invalid value: Value is immutable"},
      {"the success policy stays", jobset({plain}),
       jobset({plain}, R"("successPolicy": {"operator": "Any"},)"),
       "spec.successPolicy: Invalid value: Value is immutable"},
      {"the failure policy stays", jobset({plain}, R"("failurePolicy": {"maxRestarts": 1},)"),
       jobset({plain}, R"("failurePolicy": {"maxRestarts": 2},)"),
       "spec.failurePolicy: Invalid value: Value is immutable"},
      {"a failure policy may come later", jobset({plain}),
       jobset({plain}, R"("failurePolicy": {"maxRestarts": 2},)"), ""},
      {"the startup policy stays", jobset({plain}),
       jobset({plain}, R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"),
       "spec.startupPolicy: Invalid value: Value is immutable"},
      {"dependencies stay",
       jobset({job("a"), job("b", {.more = R"("dependsOn": [{"name": "a", "status": "Ready"}])"})}),
       jobset(
           {job("a"), job("b", {.more = R"("dependsOn": [{"name": "a", "status": "Complete"}])"})}),
       "spec.replicatedJobs[1].dependsOn: Invalid value: Value is immutable"},
      {"volume claims stay",
       jobset({mounting},
              R"("volumeClaimPolicies": [{"templates": [{"metadata": {"name": "v"}}]}],)"),
       jobset({mounting}, R"("volumeClaimPolicies": [
           {"templates": [{"metadata": {"name": "v"}, "spec": {"storageClassName": "x"}}]}],)"),
       "spec.volumeClaimPolicies: Invalid value: Value is immutable"},
      {"the barrier stays", jobset({plain}, R"("groupSchedulingConfig": {},)"),
       jobset({plain}, R"("groupSchedulingConfig": {"timeoutAfterSeconds": 3},)"),
       "spec.groupSchedulingConfig: Invalid value: Value is immutable"},
      {"the gang stays", jobset({plain}, R"("gangConfig": {"gangMode": "Gang"},)"),
       jobset({plain}, R"("gangConfig": {"gangMode": "Off"},)"),
       "spec.gangConfig: Invalid value: Value is immutable"},
      {"a barrier does not come later", jobset({plain}),
       jobset({plain}, R"("groupSchedulingConfig": {},)"),
       "spec.groupSchedulingConfig: Invalid value: {}: field is immutable"},
      {"a barrier does not go", jobset({plain}, R"("groupSchedulingConfig": {},)"), jobset({plain}),
       "spec.groupSchedulingConfig: Invalid value: null: field is immutable"},
      {"a barrier does not come while suspended", jobset({plain}, kSuspended),
       jobset({plain}, R"("suspend": true, "groupSchedulingConfig": {},)"),
       "spec.groupSchedulingConfig: Invalid value: {}: field is immutable"},
      {"a coordinator that pods at a barrier wait for stays",
       jobset({plain}, R"("groupSchedulingConfig": {},)"),
       jobset({plain}, R"("groupSchedulingConfig": {}, "coordinator": {"replicatedJob": "none"},)"),
       "spec.coordinator: Invalid value: {\"replicatedJob\":\"none\"}: field is immutable"},
      {"a gang does not come later", jobset({plain}),
       jobset({plain}, R"("gangConfig": {"gangMode": "Gang"},)"),
       "spec.gangConfig: Invalid value: {\"gangMode\":\"Gang\"}: field is immutable"},
      {"a gang does not go", jobset({plain}, R"("gangConfig": {"gangMode": "Gang"},)"),
       jobset({plain}), "spec.gangConfig: Invalid value: null: field is immutable"},
      {"a gang of an entry does not come later", jobset({job("w")}, kSuspended),
       jobset({job("w", {.more = R"("gangConfig": {"gangMode": "Gang"})"})}, kSuspended),
       kFixedJobs},
      {"a gang of an entry does not go",
       jobset({job("w", {.more = R"("gangConfig": {"gangMode": "Gang"})"})}, kSuspended),
       jobset({job("w")}, kSuspended), kFixedJobs},
      {"counts stay", scaled(2, 2), scaled(4, 4), kFixedJobs},
      {"elastic counts", scaled(2, 2), scaled(4, 4), "", elastic},
      {"elastic counts are at least 1", scaled(2, 2), scaled(0, 0),
       "[spec.replicatedJobs[0].template.spec.parallelism: Invalid value: 0: parallelism must be "
       ">= 1, "
       "spec.replicatedJobs[0].template.spec.completions: Invalid value: 0: completions must be >= "
       "1",
       elastic},
      {"elastic counts are equal", scaled(2, 2), scaled(4, 2),
       "spec.replicatedJobs[0].template.spec.completions: Invalid value: 2: completions must be "
       "equal to "
       "parallelism for Elastic Indexed Jobs",
       elastic},
      {"elastic counts of a finished set", scaled(2, 2), scaled(4, 4),
       "spec.replicatedJobs[0].template.spec: Forbidden: Cannot mutate parallelism or completions "
       "when "
       "JobSet is in a terminal state (Completed or Failed)",
       elastic, "Completed"},
      {"elastic sets keep the rest", jobset({job("w")}), jobset({job("w", {.replicas = 3})}),
       kFixedJobs, elastic},
      {"elastic sets keep their order", jobset({job("a"), job("b")}), jobset({job("b"), job("a")}),
       kFixedJobs, elastic},
      {"NonIndexed Jobs are not elastic",
       jobset({job("w", {.spec = R"("completionMode": "NonIndexed", "parallelism": 1)"})}),
       jobset({job("w", {.spec = R"("completionMode": "NonIndexed", "parallelism": 2)"})}),
       kFixedJobs, elastic},
  };
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string name;
  for (const char c : info.param.what)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, JobSetUpdate, testing::ValuesIn(rows()), row_name);

TEST(JobSetStatus, IsWrittenApart) {
  const World world;
  const Outcome set = world.create(kJobSetVersion, "JobSet", jobset({job("w")}));
  const Outcome status = world.patch(
      kJobSetVersion, "JobSet", set,
      R"({"metadata": {"labels": {"a": "b"}}, "spec": {"suspend": true}, "status": {"restarts": 1}})",
      {.subresource = "status"});
  ASSERT_EQ(status.message(), "");
  EXPECT_FALSE(status.at({"spec"}).has("suspend"));
  EXPECT_FALSE(status.at({"metadata"}).has("labels"));
  EXPECT_EQ(status.at({"status", "restarts"}).as_int(), 1);
  EXPECT_EQ(status.at({"metadata", "generation"}).as_int(), 1);
  const Outcome spec = world.patch(kJobSetVersion, "JobSet", status,
                                   R"({"spec": {"suspend": true}, "status": {"restarts": 9}})");
  ASSERT_EQ(spec.message(), "");
  EXPECT_TRUE(spec.at({"spec", "suspend"}).as_bool());
  EXPECT_EQ(spec.at({"status", "restarts"}).as_int(), 1);
  EXPECT_EQ(spec.at({"metadata", "generation"}).as_int(), 2);
}

}  // namespace jobset_update_test
}  // namespace muster::admission
