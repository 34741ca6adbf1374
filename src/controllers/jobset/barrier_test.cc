// KEP-498: pods that wait for each other; a test for each sentence of jobset 8.3. What is refused
// is tested in admission/jobset_groups_test.cc.
#include "controllers/jobset/barrier.h"

#include <gmock/gmock.h>

#include "controllers/jobset/barrier_pods.h"
#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace barrier_test {

using json::IsJson;
using json::Value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kStatusWrite = "patch jobsets.jobset.x-k8s.io/status ns/js";
constexpr std::string_view kBarrierWrite = "patch configmaps ns/js-group-scheduling";
constexpr std::string_view kForAll = R"("groupSchedulingConfig": {},)";
constexpr std::string_view kForSome =
    R"("groupSchedulingConfig": {"targetReplicatedJobs": ["w"]},)";
constexpr std::string_view kFiveMinutes =
    R"("groupSchedulingConfig": {"timeoutAfterSeconds": 300},)";

class Barrier : public ::testing::Test {
 protected:
  void create(std::string_view text) {
    cluster_.create(text);
    cluster_.settle();
  }
  void open(int attempt = 0) {  // all pods of js-w-0 are there
    cluster_.at_barrier("js-w-0", 2, attempt);
    ASSERT_THAT(cluster_.pass_gate(), ElementsAre(kBarrierWrite));
    cluster_.settle();
  }
  void suspend(bool suspended) {
    cluster_.edit(fmt::format(R"({{"spec": {{"suspend": {}}}}})", suspended));
  }
  Value template_of(std::string_view job) const {
    return cluster_.job(job).get({"spec", "template"});
  }
  std::string annotation(std::string_view job, std::string_view key) const {
    return std::string(template_of(job).get({"metadata", "annotations", key}).as_string());
  }
  Value data() const { return cluster_.config_map("js-group-scheduling").get("data"); }

  Cluster cluster_;
};

// --- The ConfigMap ---

TEST_F(Barrier, TheConfigMapIsMadeEmptyBeforeTheJobsAndBelongsToTheSet) {
  cluster_.create(jobset({job("w")}, kForAll));
  EXPECT_THAT(cluster_.pass(),
              ElementsAre("create services ns/js", "create configmaps ns/js-group-scheduling",
                          "create jobs.batch ns/js-w-0", kStatusWrite));
  const Value config_map = cluster_.config_map("js-group-scheduling");
  EXPECT_TRUE(config_map.get("data").is_null());
  EXPECT_THAT(config_map.get({"metadata", "ownerReferences"}),
              IsJson(R"([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js",
                          "uid": "uid-of-the-set", "controller": true,
                          "blockOwnerDeletion": true}])"));
}

TEST_F(Barrier, WithoutTheFieldNothingIsDifferent) {
  create(jobset({job("w")}));
  EXPECT_TRUE(cluster_.config_map("js-group-scheduling").is_null());
  EXPECT_FALSE(template_of("js-w-0").get("spec").has("initContainers"));
  EXPECT_FALSE(template_of("js-w-0").get("spec").has("volumes"));
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
}

TEST_F(Barrier, WithItsGateOffASetThatHasTheFieldRunsWithout) {
  create(jobset({job("w")}, kForAll));
  cluster_.restart_controller_with_gates("GroupScheduling=false");
  cluster_.remove_job("js-w-0");
  cluster_.settle();
  EXPECT_FALSE(template_of("js-w-0").get("spec").has("initContainers"));
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

TEST_F(Barrier, AForeignConfigMapHoldsEverythingUpAndIsTold) {
  cluster_.add_config_map(R"({"metadata": {"name": "js-group-scheduling"}})");
  cluster_.create(jobset({job("w")}, kForAll));
  cluster_.pass();
  EXPECT_THAT(cluster_.job_names(), IsEmpty());
  EXPECT_THAT(cluster_.events, Contains("Warning BarrierCreationFailed: exists"));
}

// --- What is injected ---

TEST_F(Barrier, ItsContainerIsTheLastInitContainerOfTheCoveredJobs) {
  const admission::JobText pod{.pod = R"("initContainers": [{"name": "own", "image": "i"}],
                              "containers": [{"name": "c", "image": "i"}])"};
  create(jobset({job("w", pod), job("x", pod)}, kForSome));
  const Value waits = template_of("js-w-0").get({"spec", "initContainers"});
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits.item(0).get("name").as_string(), "own");
  EXPECT_EQ(waits.item(1).get("name").as_string(), "group-scheduling-init");
  EXPECT_EQ(waits.item(1).get("image").as_string(), "bash");
  EXPECT_THAT(waits.item(1).get("volumeMounts"),
              IsJson(R"([{"name": "group-scheduling", "mountPath": "/mnt/group-scheduling",
                          "readOnly": true}])"));
  EXPECT_EQ(template_of("js-x-0").get({"spec", "initContainers"}).size(), 1u);
  EXPECT_EQ(annotation("js-x-0", annotation::kBarrier), "");
  EXPECT_EQ(cluster_.set()
                .get({"spec", "replicatedJobs"})
                .item(0)
                .get({"template", "spec", "template", "spec", "initContainers"})
                .size(),
            1u)
      << "the JobSet itself stays as it was";
}

TEST_F(Barrier, ItsVolumeShowsTheSignalOfThisAttemptOnly) {
  create(jobset({job("w")}, kForAll));
  EXPECT_THAT(template_of("js-w-0").get({"spec", "volumes"}),
              IsJson(R"([{"name": "group-scheduling", "configMap": {
                  "name": "js-group-scheduling", "optional": true, "defaultMode": 420,
                  "items": [{"key": "started-0", "path": "started"}]}}])"));
}

TEST_F(Barrier, TheNodeAgentIsToldInAnnotations) {
  create(jobset({job("w", {.replicas = 2})}, kFiveMinutes));
  EXPECT_EQ(annotation("js-w-1", "muster.dev/barrier"), "js-group-scheduling/started-0");
  EXPECT_EQ(annotation("js-w-1", "muster.dev/barrier-size"), "4");
  EXPECT_EQ(annotation("js-w-1", "muster.dev/barrier-timeout"), "300");
}

TEST_F(Barrier, ATimeoutAndACoordinatorAreWhatTheProgramGoesBy) {
  create(jobset({job("w")}, R"("groupSchedulingConfig": {"timeoutAfterSeconds": 300},
                                 "coordinator": {"replicatedJob": "w"},)"));
  const Value container = template_of("js-w-0").get({"spec", "initContainers"}).item(0);
  EXPECT_THAT(container.get("env"), IsJson(R"([{"name": "GROUP_SIZE", "value": "2"},
                         {"name": "TIMEOUT_SECONDS", "value": "300"},
                         {"name": "COORDINATOR", "value": "js-w-0-0.js"}])"));
  EXPECT_THAT(template_of("js-w-0").get({"spec", "volumes"}).item(0).get({"configMap", "items"}),
              IsJson(R"([{"key": "started-0", "path": "started"},
                         {"key": "progress-0", "path": "progress"},
                         {"key": "missing-0", "path": "missing"},
                         {"key": "started-0-coordinator-ended", "path": "coordinator-ended"}])"));
}

TEST_F(Barrier, NobodyWaitsForANameThatComesOnlyWithReadiness) {
  create(jobset({job("w")}, R"("groupSchedulingConfig": {}, "coordinator": {"replicatedJob": "w"},
                                 "network": {"publishNotReadyAddresses": false},)"));
  const Value container = template_of("js-w-0").get({"spec", "initContainers"}).item(0);
  EXPECT_THAT(container.get("env"), IsJson(R"([{"name": "GROUP_SIZE", "value": "2"}])"));
}

TEST_F(Barrier, ItsContainerNeedsNoMoreThanTheFirst) {
  create(jobset({job("w", {.pod = R"("containers": [{"name": "c", "image": "i", "resources": {
                    "requests": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"},
                    "limits": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"}}}])"})},
                kForAll));
  const Value container = template_of("js-w-0").get({"spec", "initContainers"}).item(0);
  EXPECT_THAT(container.get("resources"), IsJson(R"({"requests": {"cpu": "4", "memory": "8Gi"},
                         "limits": {"cpu": "4", "memory": "8Gi"}})"));
}

TEST(BarrierContainer, RunsWhatIsConfigured) {
  const api::JobSet set = read(jobset({job("w")}, kForAll));
  json::Arena arena;
  const Value pod_template = Value::object(arena);
  hold_at_barrier(pod_template, set, 3, {.image = "example.com/gate:1", .command = {"gate", "-v"}});
  const Value container = pod_template.get({"spec", "initContainers"}).item(0);
  EXPECT_EQ(container.get("image").as_string(), "example.com/gate:1");
  EXPECT_THAT(container.get("command"), IsJson(R"(["gate", "-v"])"));
  EXPECT_EQ(pod_template.get({"metadata", "annotations", annotation::kBarrier}).as_string(),
            "js-group-scheduling/started-3");
}

// --- The coordinator's name ---

constexpr std::string_view kCoordinated = R"("groupSchedulingConfig": {"targetReplicatedJobs":
    ["w"]}, "coordinator": {"replicatedJob": "driver"},)";

TEST_F(Barrier, TheNameOfAnEndedCoordinatorIsNotWaitedFor) {
  create(jobset({job("driver"), job("w")}, kCoordinated));
  EXPECT_THAT(template_of("js-w-0").get({"spec", "volumes"}).item(0).get({"configMap", "items"}),
              IsJson(R"([{"key": "started-0", "path": "started"},
                         {"key": "started-0-coordinator-ended", "path": "coordinator-ended"}])"));
  open();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2"})"));
  cluster_.succeed("js-driver-0");
  cluster_.settle();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2", "started-0-coordinator-ended": "true"})"));
}

TEST_F(Barrier, ACoordinatorMayEndBeforeTheBarrierOpens) {
  create(jobset({job("driver"), job("w")}, kCoordinated));
  cluster_.succeed("js-driver-0");
  cluster_.settle();
  open();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2", "started-0-coordinator-ended": "true"})"));
}

TEST_F(Barrier, ACoordinatorMayEndBeforeTheOtherPodsOfItsJob) {
  create(
      jobset({job("w")}, R"("groupSchedulingConfig": {}, "coordinator": {"replicatedJob": "w"},)"));
  open();
  cluster_.succeed_indexes("js-w-0", "1");
  cluster_.settle();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2"})"));
  cluster_.succeed_indexes("js-w-0", "0");
  cluster_.settle();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2", "started-0-coordinator-ended": "true"})"));
}

TEST_F(Barrier, AnEndedCoordinatorIsToldAnewInEachAttempt) {
  create(jobset({job("driver"), job("w")}, kCoordinated));
  cluster_.succeed("js-driver-0");
  cluster_.settle();
  open();
  suspend(true);
  cluster_.settle();
  suspend(false);
  cluster_.settle();
  EXPECT_THAT(data(), IsJson(R"({"started-1-coordinator-ended": "true"})"))
      << "its Job is complete and stays";
}

TEST(Coordinator, ThatDoesNotExistHasEnded) {
  api::JobSet set = read(jobset({job("driver"), job("w")}, kCoordinated));
  EXPECT_FALSE(coordinator_ended(set, {}));
  set.coordinator->job_index = 1;
  EXPECT_TRUE(coordinator_ended(set, {}));
  set.coordinator->job_index = 0;
  set.coordinator->replicated_job = "none";
  EXPECT_TRUE(coordinator_ended(set, {}));
}

TEST_F(Barrier, TheSetWaitsUntilTheLastMainProcessRuns) {
  create(jobset({job("driver"), job("w")}, kCoordinated));
  cluster_.held("js-w-0", 2);
  open();
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "True Barrier");
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"),
            "barrier: open, 2 of 2 do not run yet; they need the name js-driver-0-0.js");
  cluster_.held("js-w-0", 0);
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

// --- What counts as started ---

struct PodRow {
  std::string_view what;
  std::string_view pod;
  bool started;
};

TEST(Started, MeansInTheBarriersContainerOrPastIt) {
  constexpr std::string_view kInit = R"({"status": {"phase": "Pending", "initContainerStatuses":
      [{"name": "own", "state": {"terminated": {"exitCode": 0}}},
       {"name": "group-scheduling-init", "state": )";
  const auto in_state = [&](std::string_view state) {
    return std::string(kInit) + std::string(state) + "}]}}";
  };
  const std::string running = in_state(R"({"running": {"startedAt": "2026-01-01T00:00:00Z"}})");
  const std::string passed = in_state(R"({"terminated": {"exitCode": 0}})");
  const std::string gave_up = in_state(R"({"terminated": {"exitCode": 1}})");
  const std::string backing_off = in_state(R"({"waiting": {"reason": "CrashLoopBackOff"}})");
  for (const PodRow& row : std::initializer_list<PodRow>{
           {"a new pod", R"({"status": {"phase": "Pending"}})", false},
           {"own init container runs",
            R"({"status": {"phase": "Pending", "initContainerStatuses":
                [{"name": "own", "state": {"running": {}}},
                 {"name": "group-scheduling-init", "state": {"waiting": {}}}]}})",
            false},
           {"waits, and is Pending", running, true},
           {"has just passed", passed, true},
           {"gave up", gave_up, false},
           {"will try again", backing_off, false},
           {"runs", R"({"status": {"phase": "Running"}})", true},
           {"has succeeded", R"({"status": {"phase": "Succeeded"}})", true},
           {"has failed", R"({"status": {"phase": "Failed"}})", false},
           {"goes", R"({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
                        "status": {"phase": "Running"}})",
            false}}) {
    EXPECT_EQ(has_started(json::Tree(row.pod)), row.started) << row.what;
  }
}

TEST(BarrierSize, IsTheSumOfReplicasTimesPodsAtOnceOverTheTargets) {
  const std::string many = R"("parallelism": 3, "completions": 10)";
  const std::string few = R"("parallelism": 8, "completions": 2)";
  const auto size = [&](std::string_view config) {
    return barrier_size(
        read(jobset({job("a", {.replicas = 4, .spec = many}),
                     job("b", {.replicas = 2, .spec = few}), job("none", {.replicas = 0})},
                    config)));
  };
  EXPECT_EQ(size(kForAll), 4 * 3 + 2 * 2);
  EXPECT_EQ(size(R"("groupSchedulingConfig": {"targetReplicatedJobs": ["b", "none"]},)"), 4);
}

// --- Opening ---

TEST_F(Barrier, OpensOnceWhenAllPodsOfTheTargetsHaveStarted) {
  create(jobset({job("w", {.replicas = 2}), job("x")}, kForSome));
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  cluster_.at_barrier("js-w-0", 2);
  cluster_.at_barrier("js-w-1", 1);
  cluster_.at_barrier("js-x-0", 2);
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty()) << "those of others do not count";
  cluster_.at_barrier("js-w-1", 2);
  EXPECT_THAT(cluster_.pass_gate(), ElementsAre(kBarrierWrite));
  EXPECT_THAT(data(), IsJson(R"({"started-0": "4 of 4"})"));
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  EXPECT_THAT(cluster_.events, Contains("Normal BarrierOpened: barrier: 4 of 4 started"));
}

TEST_F(Barrier, TooManyOfOneJobDoNotStandForAnother) {
  create(jobset({job("w", {.replicas = 2})}, kForAll));
  cluster_.at_barrier("js-w-0", 4);
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
}

TEST_F(Barrier, WaitingIsACondition) {
  create(jobset({job("w", {.replicas = 2})}, kForAll));
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "True Barrier");
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"), "barrier: 0 of 4 started");
  cluster_.at_barrier("js-w-0", 2);
  cluster_.at_barrier("js-w-1", 1);
  cluster_.settle();
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"), "barrier: 3 of 4 started");
  cluster_.at_barrier("js-w-1", 2);
  cluster_.pass_gate();
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

TEST_F(Barrier, WhoWaitsForThoseAtTheBarrierIsToldToo) {
  create(
      jobset({job("w"), job("x", {.more = R"("dependsOn": [{"name": "w", "status": "Ready"}])"})},
             kForSome));
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"),
            "barrier: 0 of 2 started; x waits for w to be Ready: 0 of 1");
  open();
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"), "x waits for w to be Ready: 0 of 1");
}

TEST_F(Barrier, NothingWaitsAtABarrierWhoseTurnHasNotCome) {
  create(
      jobset({job("x"), job("w", {.more = R"("dependsOn": [{"name": "x", "status": "Ready"}])"})},
             kForSome));
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"), "w waits for x to be Ready: 0 of 1");
}

// --- Timeout: how many had started is told while somebody may ask ---

TEST_F(Barrier, WithATimeoutTheCountIsKept) {
  create(jobset({job("w")}, kFiveMinutes));
  cluster_.at_barrier("js-w-0", 1);
  EXPECT_THAT(cluster_.pass_gate(), ElementsAre(kBarrierWrite));
  EXPECT_THAT(data(), IsJson(R"({"missing-0": "1 of js-w-0", "progress-0": "1"})"));
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  open();
  EXPECT_THAT(data(), IsJson(R"({"started-0": "2 of 2"})"));
}

TEST_F(Barrier, WhoIsMissingIsNamedByJobAndOnlyTheFirstFew) {
  create(jobset({job("v"), job("w", {.replicas = 5})}, kFiveMinutes));
  cluster_.at_barrier("js-v-0", 2);
  cluster_.at_barrier("js-w-1", 1);
  cluster_.pass_gate();
  EXPECT_THAT(data(), IsJson(R"({"missing-0": "2 of js-w-0, 1 of js-w-1, 2 of js-w-2 and others",
                                 "progress-0": "3"})"));
}

// --- Attempts ---

TEST_F(Barrier, ARestartHasASignalOfItsOwn) {
  create(
      jobset({job("w")}, R"("groupSchedulingConfig": {}, "failurePolicy": {"maxRestarts": 1},)"));
  open();
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(annotation("js-w-0", annotation::kBarrier), "js-group-scheduling/started-1");
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty()) << "pods of the attempt before do not count";
  EXPECT_EQ(cluster_.message("muster.dev/Waiting"), "barrier: 0 of 2 started");
  open(1);
  EXPECT_THAT(data(), IsJson(R"({"started-1": "2 of 2"})")) << "and old ones go";
}

TEST_F(Barrier, NothingOpensWhileTheSetIsSuspended) {
  create(jobset({job("w")}, kForAll));
  suspend(true);
  cluster_.at_barrier("js-w-0", 2);
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

TEST_F(Barrier, ASetThatWasSuspendedFromTheBeginningStaysInItsFirstAttempt) {
  create(jobset({job("w")}, R"("groupSchedulingConfig": {}, "suspend": true,)"));
  const std::string uid(cluster_.job("js-w-0").get({"metadata", "uid"}).as_string());
  suspend(false);
  cluster_.settle();
  EXPECT_EQ(cluster_.job("js-w-0").get({"metadata", "uid"}).as_string(), uid);
  EXPECT_EQ(annotation("js-w-0", annotation::kBarrier), "js-group-scheduling/started-0");
  open();
}

TEST_F(Barrier, AResumeIsANewAttempt) {
  create(jobset({job("w")}, kForAll));
  open();
  suspend(true);
  EXPECT_THAT(cluster_.pass(),
              ElementsAre(kBarrierWrite, "patch jobs.batch ns/js-w-0", kStatusWrite))
      << "the barrier shuts before anything else happens";
  cluster_.settle();
  suspend(false);
  cluster_.settle();
  EXPECT_EQ(annotation("js-w-0", annotation::kBarrier), "js-group-scheduling/started-1");
  EXPECT_THAT(template_of("js-w-0").get({"spec", "volumes"}).item(0).get({"configMap", "items"}),
              IsJson(R"([{"key": "started-1", "path": "started"}])"));
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  open(1);
  EXPECT_THAT(data(), IsJson(R"({"started-1": "2 of 2"})"));
}

TEST_F(Barrier, ARestartAfterAResumeIsTheNextOne) {
  create(
      jobset({job("w")}, R"("groupSchedulingConfig": {}, "failurePolicy": {"maxRestarts": 1},)"));
  open();
  suspend(true);
  cluster_.settle();
  suspend(false);
  cluster_.settle();
  open(1);
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(annotation("js-w-0", annotation::kBarrier), "js-group-scheduling/started-2");
}

TEST_F(Barrier, WhatHasFinishedIsNotWaitedForAfterAResume) {
  create(jobset({job("v"), job("w"), job("x")},
                R"("groupSchedulingConfig": {"targetReplicatedJobs": ["v", "w"]},)"));
  cluster_.at_barrier("js-v-0", 2);
  open();
  cluster_.succeed("js-v-0");
  cluster_.settle();
  const std::string other(cluster_.job("js-x-0").get({"metadata", "uid"}).as_string());
  suspend(true);
  cluster_.settle();
  suspend(false);
  cluster_.settle();
  EXPECT_EQ(annotation("js-v-0", annotation::kBarrier), "js-group-scheduling/started-0")
      << "it stays as it is";
  EXPECT_EQ(cluster_.job("js-x-0").get({"metadata", "uid"}).as_string(), other)
      << "and so does what is not covered";
  open(1);
}

TEST_F(Barrier, ALostConfigMapIsMadeAgainInTheSameAttempt) {
  create(jobset({job("w")}, kForAll));
  open();
  suspend(true);
  cluster_.settle();
  suspend(false);
  cluster_.settle();
  open(1);
  cluster_.remove_config_map("js-group-scheduling");
  cluster_.settle();
  EXPECT_EQ(annotation("js-w-0", annotation::kBarrier), "js-group-scheduling/started-1");
  EXPECT_THAT(cluster_.pass_gate(), ElementsAre(kBarrierWrite));
  EXPECT_THAT(data(), IsJson(R"({"started-1": "2 of 2"})"));
}

TEST_F(Barrier, ASetThatIsOverOpensNothing) {
  create(jobset({job("w")}, kForAll));
  cluster_.fail("js-w-0");
  cluster_.settle();
  cluster_.at_barrier("js-w-0", 2);
  EXPECT_THAT(cluster_.pass_gate(), IsEmpty());
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

}  // namespace barrier_test
}  // namespace muster::controllers::jobset
