// Suspending and resuming, as people and Kueue do it.
#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace suspend_test {

using json::IsJson;
using json::Value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kStatusWrite = "patch jobsets.jobset.x-k8s.io/status ns/js";

class Suspension : public ::testing::Test {
 protected:
  void create(std::string_view text) {
    cluster_.create(text);
    cluster_.settle();
  }
  Value template_of(std::string_view job) const {
    return cluster_.job(job).get({"spec", "template"});
  }

  Cluster cluster_;
};

TEST_F(Suspension, ASuspendedSetIsThereButDoesNotRun) {
  create(jobset({job("a"), job("b", {.replicas = 2})}, R"("suspend": true,)"));
  EXPECT_FALSE(cluster_.service("js").is_null());
  for (const std::string& name : cluster_.job_names()) EXPECT_TRUE(cluster_.is_suspended(name));
  EXPECT_EQ(cluster_.job_names().size(), 3u);
  EXPECT_EQ(cluster_.condition("Suspended"), "True SuspendedJobs");
  EXPECT_EQ(cluster_.message("Suspended"), "jobset is suspended");
  EXPECT_EQ(cluster_.counts("b"), "suspended 2");
  EXPECT_THAT(cluster_.events, ElementsAre("Normal SuspendedJobs: jobset is suspended"));
}

TEST_F(Suspension, ASetThatNeverWasSuspendedHasNoSuchCondition) {
  create(jobset({job("a")}));
  EXPECT_EQ(cluster_.condition("Suspended"), "");
}

TEST_F(Suspension, ARunningSetIsSuspendedFinishedJobsStay) {
  create(jobset({job("a"), job("b", {.replicas = 2})}));
  cluster_.succeed("js-a-0");
  cluster_.run("js-b-0");
  cluster_.run("js-b-1");
  cluster_.settle();
  cluster_.edit(R"({"spec": {"suspend": true}})");
  EXPECT_THAT(cluster_.pass(), ElementsAre("patch jobs.batch ns/js-b-0",
                                           "patch jobs.batch ns/js-b-1", kStatusWrite));
  EXPECT_FALSE(cluster_.is_suspended("js-a-0"));
  EXPECT_EQ(cluster_.condition("Suspended"), "True SuspendedJobs");
}

TEST_F(Suspension, WhatFinishesJustBeforeItIsSuspendedStaysAsItIs) {
  create(jobset({job("a"), job("b")}));
  cluster_.run("js-a-0");
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.pass([&] { cluster_.succeed("js-a-0"); });
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-a-0"));
  EXPECT_TRUE(cluster_.is_suspended("js-b-0"));
}

TEST_F(Suspension, EndsARestart) {
  create(jobset({job("w")}, R"("failurePolicy": {"maxRestarts": 1},)"));
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_THAT(cluster_.condition("RestartingJobSet"), HasSubstr("True"));
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "False JobSetSuspended");
  EXPECT_EQ(cluster_.status().get("restarts").as_int(), 1) << "is no restart itself";
}

TEST_F(Suspension, ResumingToldOnceAndNothingMore) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.edit(R"({"spec": {"suspend": false}})");
  EXPECT_THAT(cluster_.pass(), ElementsAre("patch jobs.batch ns/js-w-0", kStatusWrite));
  EXPECT_EQ(cluster_.condition("Suspended"), "False ResumeJobs");
  EXPECT_EQ(cluster_.events.back(), "Normal ResumeJobs: jobset is resumed");
  cluster_.settle();
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

// Kueue admits a workload by resuming it and saying where it may run, in one update.
constexpr std::string_view kAdmitted = R"({"spec": {"suspend": false, "replicatedJobs": [
    {"name": "w", "replicas": 1, "groupName": "default", "template": {"spec": {
      "parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {
        "metadata": {"labels": {"l": "1"}, "annotations": {"a": "1"}},
        "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "c", "image": "i"}],
          "nodeSelector": {"flavor": "FLAVOR"}, "tolerations": [{"key": "FLAVOR", "operator": "Exists"}],
          "schedulingGates": [{"name": "g"}]}}}}}]}})";
std::string admitted(std::string_view flavor) {
  std::string text(kAdmitted);
  for (std::size_t at = text.find("FLAVOR"); at != std::string::npos; at = text.find("FLAVOR"))
    text.replace(at, 6, flavor);
  return text;
}
// Eviction suspends and restores the template in one update.
constexpr std::string_view kEvicted = R"({"spec": {"suspend": true, "replicatedJobs": [
    {"name": "w", "replicas": 1, "groupName": "default", "template": {"spec": {
      "parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {
        "metadata": {}, "spec": {"restartPolicy": "OnFailure",
          "containers": [{"name": "c", "image": "i"}]}}}}}]}})";

TEST_F(Suspension, WhatKueueSaysReachesTheJobs) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.edit(admitted("a"));
  cluster_.settle();
  const Value pod = template_of("js-w-0");
  EXPECT_THAT(pod.get({"spec", "nodeSelector"}), IsJson(R"({"flavor": "a"})"));
  EXPECT_THAT(pod.get({"spec", "tolerations"}), IsJson(R"([{"key": "a", "operator": "Exists"}])"));
  EXPECT_THAT(pod.get({"spec", "schedulingGates"}), IsJson(R"([{"name": "g"}])"));
  EXPECT_EQ(pod.get({"metadata", "labels", "l"}).as_string(), "1");
  EXPECT_EQ(pod.get({"metadata", "annotations", "a"}).as_string(), "1");
  EXPECT_TRUE(pod.get({"metadata", "labels"}).has(label::kJobKey)) << "ours are still there";
  EXPECT_FALSE(cluster_.is_suspended("js-w-0"));
}

TEST_F(Suspension, OneThatNobodySawBringsTheNewTemplateAllTheSame) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.edit(admitted("a"));
  cluster_.settle();
  cluster_.run("js-w-0");
  cluster_.settle();
  cluster_.edit(kEvicted);
  cluster_.edit(admitted("b"));
  EXPECT_THAT(cluster_.pass(), Contains("patch jobs.batch ns/js-w-0"));
  EXPECT_TRUE(cluster_.is_suspended("js-w-0"));
  cluster_.stop("js-w-0");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-w-0"));
  EXPECT_THAT(template_of("js-w-0").get({"spec", "nodeSelector"}), IsJson(R"({"flavor": "b"})"));
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

TEST_F(Suspension, OneThatNobodySawAndThatChangedNothingIsNoReasonToStop) {
  create(jobset({job("w")}));
  cluster_.run("js-w-0");
  cluster_.settle();
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.edit(R"({"spec": {"suspend": false}})");
  cluster_.settle();
  EXPECT_FALSE(cluster_.is_suspended("js-w-0"));
}

TEST_F(Suspension, AWorkloadThatMovesForgetsWhereItWas) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.edit(admitted("a"));
  cluster_.settle();
  cluster_.run("js-w-0");
  cluster_.settle();
  cluster_.edit(kEvicted);
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("w"), "ready 1 active 1 suspended 1") << "Kueue waits for active 0";
  cluster_.stop("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("w"), "suspended 1");
  cluster_.edit(admitted("b"));
  cluster_.settle();
  const Value pod = template_of("js-w-0").get("spec");
  EXPECT_THAT(pod.get("nodeSelector"), IsJson(R"({"flavor": "b"})"));
  EXPECT_THAT(pod.get("tolerations"), IsJson(R"([{"key": "b", "operator": "Exists"}])"));
}

TEST_F(Suspension, AJobThatHasStartedOnceForgetsWhen) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.job("js-w-0").object_at("status").set("startTime", "2026-01-01T00:00:00Z");
  cluster_.edit(admitted("a"));
  EXPECT_THAT(cluster_.pass(), ElementsAre("patch jobs.batch/status ns/js-w-0",
                                           "patch jobs.batch ns/js-w-0", kStatusWrite));
  EXPECT_FALSE(cluster_.job("js-w-0").get("status").has("startTime"));
}

TEST_F(Suspension, ResumedTooEarlyItIsTriedAgain) {
  create(jobset({job("w")}, R"("suspend": true,)"));
  cluster_.job("js-w-0").object_at("status").set("active", Value::of(1));  // a pod is left
  cluster_.edit(admitted("a"));
  EXPECT_THAT(cluster_.pass(), ElementsAre("patch jobs.batch ns/js-w-0"));
  EXPECT_EQ(cluster_.condition("Suspended"), "True SuspendedJobs") << "no status, it is retried";
  cluster_.stop("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Suspended"), "False ResumeJobs");
  EXPECT_FALSE(cluster_.is_suspended("js-w-0"));
}

TEST_F(Suspension, WhatIsCreatedWhileSuspendedIsSuspendedAlsoAfterARestart) {
  create(jobset({job("w")}, R"("failurePolicy": {"maxRestarts": 1},)"));
  cluster_.fail("js-w-0");
  cluster_.pass();
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.settle();
  EXPECT_TRUE(cluster_.is_suspended("js-w-0"));
}

// Kueue asks: do pods run (active), are they ready (ready + succeeded of replicas)?
TEST_F(Suspension, TheNumbersThatKueueReads) {
  create(jobset({job("a"), job("b", {.replicas = 2})}));
  cluster_.begin("js-a-0");
  cluster_.succeed("js-b-0");
  cluster_.run("js-b-1");
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("a"), "active 1");
  EXPECT_EQ(cluster_.counts("b"), "ready 1 succeeded 1 active 1");
}

}  // namespace suspend_test
}  // namespace muster::controllers::jobset
