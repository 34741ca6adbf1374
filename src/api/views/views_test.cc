#include "api/views/views.h"

#include <gmock/gmock.h>

#include "api/testing.h"
#include "json/testing.h"

namespace muster::api {
namespace views_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Views, JobSetWithEverything) {
  const json::Tree tree(R"({"metadata":{"name":"train","namespace":"ml","labels":{"a":"b"}},"spec":{
    "coordinator":{"replicatedJob":"driver","podIndex":1},
    "failurePolicy":{"maxRestarts":3,"restartStrategy":"BlockingRecreate","rules":[{"name":"r","action":"FailJobSet",
      "onJobFailureReasons":["BackoffLimitExceeded"],"targetReplicatedJobs":["workers"]}]},
    "gangConfig":{"gangMode":"Gang"},"groupSchedulingConfig":{"timeoutAfterSeconds":60,"targetReplicatedJobs":["workers"]},
    "managedBy":"kueue.x-k8s.io/multikueue","network":{"enableDNSHostnames":true,"subdomain":"train"},
    "replicatedJobs":[{"name":"driver","groupName":"default","template":{"spec":{}}},
      {"name":"workers","replicas":2,"dependsOn":[{"name":"driver","status":"Complete"}],"gangConfig":{"gangMode":"ReplicatedGang"},
       "template":{"spec":{"parallelism":8,"completions":4}}}],
    "startupPolicy":{"startupPolicyOrder":"InOrder"},"successPolicy":{"operator":"Any","targetReplicatedJobs":["driver"]},
    "suspend":true,"ttlSecondsAfterFinished":0,
    "volumeClaimPolicies":[{"retentionPolicy":{"whenDeleted":"Retain"},"templates":[{"metadata":{"name":"v"}}]}]},
    "status":{"restarts":2,"restartsCountTowardsMax":1,"terminalState":"Failed","conditions":[{"type":"Failed","status":"True",
      "reason":"FailedJobs","lastTransitionTime":"2020-01-02T03:04:05Z"}],
      "replicatedJobsStatus":[{"name":"workers","ready":1,"succeeded":0,"failed":1,"active":1,"suspended":0,"jobRestarts":[0,2]}]}})");
  const JobSet set = read_job_set(tree);
  EXPECT_EQ(set.meta.name, "train");
  EXPECT_EQ(set.meta.label("a"), "b");
  EXPECT_EQ(set.coordinator->pod_index, 1);
  EXPECT_EQ(set.failure_policy->max_restarts, 3);
  EXPECT_EQ(set.failure_policy->restart_strategy, RestartStrategy::kBlockingRecreate);
  EXPECT_EQ(set.failure_policy->rules[0].action, FailureAction::kFailJobSet);
  EXPECT_THAT(set.failure_policy->rules[0].target_replicated_jobs, ElementsAre("workers"));
  EXPECT_EQ(set.gang_mode, GangMode::kGang);
  EXPECT_EQ(set.group_scheduling->timeout_after_seconds, 60);
  EXPECT_EQ(set.managed_by, "kueue.x-k8s.io/multikueue");
  EXPECT_TRUE(set.network->enable_dns_hostnames);
  EXPECT_TRUE(set.in_order);
  EXPECT_TRUE(set.success_policy.any);
  EXPECT_TRUE(set.suspend);
  EXPECT_EQ(set.ttl_seconds_after_finished, 0);
  EXPECT_TRUE(set.volume_claim_policies[0].retain_when_deleted);
  EXPECT_THAT(set.volume_claim_policies[0].templates_json,
              ElementsAre(R"({"metadata":{"name":"v"}})"));

  const ReplicatedJob* const workers = set.replicated_job("workers");
  ASSERT_NE(workers, nullptr);
  EXPECT_EQ(workers->depends_on[0].status, DependencyStatus::kComplete);
  EXPECT_EQ(workers->gang_mode, GangMode::kReplicatedGang);
  EXPECT_EQ(workers->pods_per_job(), 4);
  EXPECT_EQ(workers->pods(), 8);
  EXPECT_EQ(workers->template_json, R"({"spec":{"parallelism":8,"completions":4}})");
  EXPECT_EQ(set.replicated_job("nobody"), nullptr);

  EXPECT_EQ(set.status.restarts, 2);
  EXPECT_TRUE(is_condition_true(set.status.conditions, "Failed"));
  EXPECT_FALSE(is_condition_true(set.status.conditions, "Completed"));
  EXPECT_THAT(set.status.replicated_jobs[0].job_restarts, ElementsAre(0, 2));
}

TEST(Views, AbsentFieldsReadAsTheirDefaults) {
  const json::Tree tree(
      R"({"metadata":{"name":"x"},"spec":{"replicatedJobs":[{"name":"w","template":{}}]}})");
  const JobSet set = read_job_set(tree);
  EXPECT_EQ(set.replicated_jobs[0].pods(), 1);
  EXPECT_FALSE(set.failure_policy.has_value());
  EXPECT_FALSE(set.network.has_value());
  EXPECT_FALSE(set.gang_mode.has_value());
  EXPECT_FALSE(set.success_policy.any);
  EXPECT_THAT(set.status.conditions, IsEmpty());
  const Job job = read_job(tree);
  EXPECT_EQ(job.backoff_limit, 6);
  EXPECT_FALSE(job.is_finished());
}

TEST(Views, JobReadsItsCounts) {
  const json::Tree tree(
      R"({"metadata":{"name":"j"},"spec":{"parallelism":3,"completions":5,"completionMode":"Indexed",
    "backoffLimit":0,"template":{"spec":{}}},"status":{"active":1,"ready":1,"succeeded":2,"failed":1,"completedIndexes":"0-1",
    "startTime":"2020-01-02T03:04:05Z","conditions":[{"type":"Complete","status":"True"}]}})");
  const Job job = read_job(tree);
  EXPECT_TRUE(job.indexed);
  EXPECT_EQ(job.completions, 5);
  EXPECT_EQ(job.backoff_limit, 0);
  EXPECT_EQ(job.succeeded, 2);
  EXPECT_EQ(job.completed_indexes, "0-1");
  EXPECT_TRUE(job.is_complete());
  EXPECT_EQ(job.template_json, R"({"spec":{}})");
}

TEST(Views, PodReadsItsPlaceAndItsContainers) {
  const json::Tree tree(
      R"({"metadata":{"name":"p","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j",
    "uid":"u","controller":true}]},"spec":{"nodeName":"n","schedulingGroup":{"podGroupName":"g"},"schedulingGates":[{"name":"q"}],
    "containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}}}]},"status":{"phase":"Failed","conditions":[{"type":"Ready",
    "status":"False"}],"containerStatuses":[{"name":"c","ready":false,"restartCount":2,"state":{"terminated":{"exitCode":137,
    "reason":"OOMKilled"}}},{"name":"d","ready":false,"restartCount":0,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})");
  const Pod pod = read_pod(tree);
  EXPECT_EQ(pod.node_name, "n");
  EXPECT_EQ(pod.pod_group, "g");
  EXPECT_THAT(pod.scheduling_gates, ElementsAre("q"));
  EXPECT_EQ(pod.meta.controller()->name, "j");
  EXPECT_EQ(pod.container_requests[0].find("cpu")->second.milli_value(), 500);
  EXPECT_TRUE(pod.is_terminal());
  EXPECT_FALSE(pod.is_ready());
  EXPECT_EQ(pod.container_statuses[0].exit_code, 137);
  EXPECT_EQ(pod.container_statuses[0].reason, "OOMKilled");
  EXPECT_EQ(pod.container_statuses[1].reason, "CrashLoopBackOff");
}

TEST(Views, NodeReadsWhatItOffers) {
  const json::Tree tree(
      R"({"metadata":{"name":"n"},"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},
    "status":{"allocatable":{"cpu":"4","memory":"8Gi"},"conditions":[{"type":"Ready","status":"True"}]}})");
  const Node node = read_node(tree);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_THAT(node.taints, SizeIs(1));
  EXPECT_EQ(node.allocatable.find("memory")->second.value(), std::int64_t{8} << 30);
  EXPECT_TRUE(node.is_ready());
}

TEST(Views, MetaReadsLikeDecodeMeta) {
  const json::Tree recorded(read_testdata("recorded_objects.json"));
  for (const json::Value entry : recorded.root.items()) {
    const json::Value object = entry.get("object");
    if (object.get("metadata").get("name").is_null()) continue;
    const Meta a = read_meta(object);
    const Meta b = decode_meta(json::write(object));
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.uid, b.uid);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.annotations, b.annotations);
    EXPECT_EQ(a.finalizers, b.finalizers);
    EXPECT_EQ(a.generation, b.generation);
    EXPECT_EQ(a.creation_time, b.creation_time);
    EXPECT_EQ(a.deletion_time, b.deletion_time);
    EXPECT_EQ(a.owners.size(), b.owners.size());
  }
}

}  // namespace views_test
}  // namespace muster::api
