// A JobSet's life from creation to its end; restarts, startup and suspension have files of their
// own.
#include "controllers/jobset/plan.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace plan_test {

using json::IsJson;
using json::Value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kStatusWrite = "patch jobsets.jobset.x-k8s.io/status ns/js";

class JobSetLife : public ::testing::Test {
 protected:
  Cluster cluster_;
};

TEST_F(JobSetLife, ANewSetGetsItsServiceItsJobsAndAStatusInThisOrder) {
  cluster_.create(jobset({job("a"), job("b", {.replicas = 2})}));
  EXPECT_THAT(cluster_.pass(), ElementsAre("create services ns/js", "create jobs.batch ns/js-a-0",
                                           "create jobs.batch ns/js-b-0",
                                           "create jobs.batch ns/js-b-1", kStatusWrite));
  EXPECT_THAT(cluster_.status(), IsJson(R"({"restarts": 0, "replicatedJobsStatus": [
      {"name": "b", "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0},
      {"name": "a", "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}]})"));
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_THAT(cluster_.events, IsEmpty());
}

TEST_F(JobSetLife, CompletesWhenAllJobsHaveSucceeded) {
  cluster_.create(jobset({job("a"), job("b", {.replicas = 2})}));
  cluster_.settle();
  cluster_.succeed("js-a-0");
  cluster_.succeed("js-b-0");
  cluster_.run("js-b-1");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "") << "one still runs";
  EXPECT_EQ(cluster_.counts("a"), "succeeded 1");
  EXPECT_EQ(cluster_.counts("b"), "ready 1 succeeded 1 active 1");
  cluster_.succeed("js-b-1");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "True AllJobsCompleted");
  EXPECT_EQ(cluster_.message("Completed"), "jobset completed successfully");
  EXPECT_EQ(cluster_.status().get("terminalState").as_string(), "Completed");
  EXPECT_EQ(cluster_.counts("b"), "succeeded 2");
  EXPECT_THAT(cluster_.events,
              ElementsAre("Normal AllJobsCompleted: jobset completed successfully"));
}

TEST_F(JobSetLife, StatusFollowsTheJobs) {
  cluster_.create(jobset({job("w", {.replicas = 2})}));
  cluster_.settle();
  cluster_.begin("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("w"), "active 1");
  cluster_.run("js-w-0");
  cluster_.run("js-w-1");
  EXPECT_THAT(cluster_.pass(), ElementsAre(kStatusWrite));
  EXPECT_EQ(cluster_.counts("w"), "ready 2 active 2");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

struct SuccessRow {
  std::string name, policy;
  std::vector<std::string> succeed;  // the last one decides
};
class SuccessPolicies : public ::testing::TestWithParam<SuccessRow> {};
TEST_P(SuccessPolicies, DecideWhenTheSetIsThrough) {
  Cluster cluster;
  cluster.create(jobset({job("a"), job("b", {.replicas = 2})}, GetParam().policy));
  cluster.settle();
  for (const std::string& name : GetParam().succeed) {
    EXPECT_EQ(cluster.condition("Completed"), "");
    cluster.succeed(name);
    cluster.settle();
  }
  EXPECT_EQ(cluster.condition("Completed"), "True AllJobsCompleted");
}
INSTANTIATE_TEST_SUITE_P(
    All, SuccessPolicies,
    ::testing::Values(
        SuccessRow{"all", "", {"js-b-0", "js-a-0", "js-b-1"}},
        SuccessRow{"allOfB",
                   R"("successPolicy": {"operator": "All", "targetReplicatedJobs": ["b"]},)",
                   {"js-b-0", "js-b-1"}},
        SuccessRow{"any", R"("successPolicy": {"operator": "Any"},)", {"js-b-1"}},
        SuccessRow{"anyOfA",
                   R"("successPolicy": {"operator": "Any", "targetReplicatedJobs": ["a"]},)",
                   {"js-b-0", "js-b-1", "js-a-0"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(JobSetLife, WhatStillRunsAtTheEndIsDeletedWhatIsFinishedStays) {
  cluster_.create(jobset({job("a"), job("b")}, R"("successPolicy": {"operator": "Any"},)"));
  cluster_.settle();
  cluster_.run("js-b-0");
  cluster_.succeed("js-a-0");
  EXPECT_THAT(cluster_.pass(), ElementsAre(kStatusWrite)) << "first it is said, then done";
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobs.batch ns/js-b-0"));
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0"));
}

TEST_F(JobSetLife, WhatFinishesJustBeforeItIsDeletedStays) {
  cluster_.create(jobset({job("a"), job("b")}, R"("successPolicy": {"operator": "Any"},)"));
  cluster_.settle();
  cluster_.run("js-b-0");
  cluster_.succeed("js-a-0");
  cluster_.pass();
  EXPECT_THAT(cluster_.pass([&] { cluster_.succeed("js-b-0"); }),
              ElementsAre("delete jobs.batch ns/js-b-0"));
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-a-0", "js-b-0"));
  EXPECT_EQ(cluster_.counts("b"), "succeeded 1");
}

TEST_F(JobSetLife, AStatusThatWasComputedFromAnOldSetIsNotWritten) {
  cluster_.create(jobset({job("w")}));
  cluster_.settle();
  cluster_.run("js-w-0");
  cluster_.pass([&] { cluster_.edit(R"({"spec": {"suspend": true}})"); });
  EXPECT_EQ(cluster_.counts("w"), "");
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("w"), "ready 1 active 1 suspended 1");
}

TEST_F(JobSetLife, WithoutFailurePolicyTheFirstFailureIsTheEnd) {
  cluster_.create(jobset({job("a"), job("b")}));
  cluster_.settle();
  cluster_.run("js-a-0");
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True FailedJobs");
  EXPECT_EQ(cluster_.status().get("terminalState").as_string(), "Failed");
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-b-0"));
  EXPECT_THAT(cluster_.events, ElementsAre(StartsWith("Warning FailedJobs: ")));
}

TEST_F(JobSetLife, FailureBeatsSuccess) {
  cluster_.create(jobset({job("a"), job("b")}, R"("successPolicy": {"operator": "Any"},)"));
  cluster_.settle();
  cluster_.succeed("js-a-0");
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True FailedJobs");
  EXPECT_EQ(cluster_.condition("Completed"), "");
}

TEST_F(JobSetLife, WithoutReplicatedJobsThereIsNothingToDoAndNoEnd) {
  cluster_.create(jobset({}));
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), IsEmpty());
  EXPECT_EQ(cluster_.condition("Completed"), "");
}

TEST_F(JobSetLife, JobsOfAnotherSetOfTheSameNameAreNotCounted) {
  cluster_.create(jobset({job("w")}));
  cluster_.add_job(R"({"metadata": {"name": "stray", "labels": {
        "jobset.sigs.k8s.io/replicatedjob-name": "w", "jobset.sigs.k8s.io/restart-attempt": "0"},
      "ownerReferences": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js",
        "uid": "an-older-one", "controller": true}]},
      "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})");
  cluster_.fail("stray");
  cluster_.settle();
  EXPECT_EQ(cluster_.counts("w"), "");
  cluster_.succeed("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "True AllJobsCompleted");
}

// One plan for all of them would take the memory of the machine, and its loop for minutes.
TEST(HugeSets, AreMadeInPortions) {
  const api::Resource jobs{.plural = "jobs"}, others;
  const Kinds kinds{&others, &jobs, &others, &others, &others};
  const auto created = [&](std::span<const Child* const> children) {
    const api::JobSet set = read(jobset({job("first"), job("w", {.replicas = 2'147'483'647})}));
    std::vector<std::string> names;
    for (client::Operation& each :
         plan(kinds, {.set = set, .children = children}, {}).plan.operations())
      if (each.resource == &jobs) names.push_back(std::move(each.name));
    return names;
  };
  const std::vector<std::string> first = created({});
  ASSERT_EQ(first.size(), kMostJobsPerPass);
  EXPECT_EQ(first.front(), "js-first-0");
  std::vector<Child> children;
  for (const std::string& name : first) children.push_back(child({.name = name}));
  const std::vector<std::string> next = created(pointers(children));
  ASSERT_EQ(next.size(), kMostJobsPerPass);
  EXPECT_EQ(next.front(), fmt::format("js-w-{}", kMostJobsPerPass - 1));
}

TEST_F(JobSetLife, AChildThatVanishesIsMadeAgain) {
  cluster_.create(jobset({job("w", {.replicas = 2})}));
  cluster_.settle();
  cluster_.remove_job("js-w-1");
  EXPECT_THAT(cluster_.pass(), ElementsAre("create jobs.batch ns/js-w-1"));
}

TEST_F(JobSetLife, AnUnreadableChildStopsThePassBeforeAnyWrite) {
  cluster_.create(jobset({job("w", {.replicas = 2})}));
  cluster_.settle();
  cluster_.run("js-w-0");
  cluster_.job("js-w-1").get({"metadata", "labels"}).erase(label::kRestartAttempt);
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_THAT(cluster_.last.error, HasSubstr("js-w-1"));
}

TEST_F(JobSetLife, ASetThatIsBeingDeletedIsLeftAlone) {
  cluster_.create(jobset({job("w")}));
  cluster_.set().get("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

// The headless Service.

TEST_F(JobSetLife, TheServiceSelectsTheSetsPods) {
  cluster_.create(jobset({job("w")}));
  cluster_.settle();
  const Value service = cluster_.service("js");
  EXPECT_EQ(service.get({"spec", "clusterIP"}).as_string(), "None");
  EXPECT_THAT(service.get({"spec", "selector"}),
              IsJson(R"({"jobset.sigs.k8s.io/jobset-name": "js"})"));
  EXPECT_TRUE(service.get({"spec", "publishNotReadyAddresses"}).as_bool());
  EXPECT_FALSE(service.get("spec").has("ports"));
  EXPECT_FALSE(service.get("metadata").has("labels"));
  EXPECT_TRUE(service.get({"metadata", "ownerReferences"}).item(0).get("controller").as_bool());
}

TEST_F(JobSetLife, TheServiceIsNamedAfterTheSubdomain) {
  cluster_.create(
      jobset({job("w")}, R"("network": {"subdomain": "net", "publishNotReadyAddresses": false},)"));
  cluster_.settle();
  EXPECT_TRUE(cluster_.service("js").is_null());
  EXPECT_FALSE(cluster_.service("net").get({"spec", "publishNotReadyAddresses"}).as_bool());
}

TEST_F(JobSetLife, OfAGeneratedNameTheServiceHasTheFinalOne) {
  cluster_.create(R"({"metadata": {"generateName": "run-"}, "spec": {"replicatedJobs": []}})");
  cluster_.settle();
  EXPECT_FALSE(cluster_.service("run-abcde").is_null());
}

TEST_F(JobSetLife, WithoutHostnamesThereIsNoService) {
  cluster_.create(jobset({job("w")}, R"("network": {"enableDNSHostnames": false},)"));
  EXPECT_THAT(cluster_.pass(), ElementsAre("create jobs.batch ns/js-w-0", kStatusWrite));
}

TEST_F(JobSetLife, ADeletedServiceIsMadeAgain) {
  cluster_.create(jobset({job("w")}));
  cluster_.settle();
  cluster_.remove_service("js");
  EXPECT_THAT(cluster_.pass(), ElementsAre("create services ns/js"));
}

TEST_F(JobSetLife, ARefusedServiceIsToldAndHoldsEverythingUp) {
  cluster_.create(jobset({job("w")}));
  // The namespace is on its way out: nothing new may be made in it.
  cluster_.world.add("v1", "Namespace", R"({"metadata": {"name": "ns", "deletionTimestamp":
      "2026-01-01T00:00:00Z"}, "status": {"phase": "Terminating"}})");
  EXPECT_THAT(cluster_.pass(), ElementsAre("create services ns/js"));
  EXPECT_THAT(cluster_.events,
              ElementsAre(StartsWith("Warning HeadlessServiceCreationFailed: services \"js\"")));
  EXPECT_TRUE(cluster_.set().get({"status", "restarts"}).is_null()) << "no status either";
}

// Volume claims.

const std::string kMounting = job("w", {.pod = R"("containers": [{"name": "c", "image": "i",
    "volumeMounts": [{"name": "data", "mountPath": "/d"}, {"name": "model", "mountPath": "/m"}]}])"});
constexpr std::string_view kClaims = R"("volumeClaimPolicies": [
    {"templates": [{"metadata": {"name": "data", "labels": {"l": "1"}, "annotations": {"a": "1"}},
      "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]},
    {"retentionPolicy": {"whenDeleted": "Retain"}, "templates": [{"metadata": {"name": "model"},
      "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}],)";

TEST_F(JobSetLife, ClaimsAreMadeBeforeTheJobsThatMountThem) {
  cluster_.create(jobset({kMounting}, kClaims));
  EXPECT_THAT(cluster_.pass(),
              ElementsAre("create services ns/js", "create persistentvolumeclaims ns/data-js",
                          "create persistentvolumeclaims ns/model-js",
                          "create jobs.batch ns/js-w-0", kStatusWrite));
  const Value data = cluster_.claim("data-js"), model = cluster_.claim("model-js");
  EXPECT_THAT(data.get({"metadata", "labels"}),
              IsJson(R"({"l": "1", "jobset.sigs.k8s.io/jobset-name": "js"})"));
  EXPECT_EQ(data.get({"metadata", "annotations", "a"}).as_string(), "1");
  EXPECT_EQ(data.get({"spec", "resources", "requests", "storage"}).as_string(), "1Gi");
  EXPECT_EQ(data.get({"metadata", "ownerReferences"}).size(), 1u) << "goes with the set";
  EXPECT_FALSE(model.get("metadata").has("ownerReferences")) << "stays";
  EXPECT_EQ(cluster_.job("js-w-0").get({"spec", "template", "spec", "volumes"}).size(), 2u);
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

TEST_F(JobSetLife, ASuspendedSetHasItsClaimsToo) {
  cluster_.create(jobset({kMounting}, std::string(kClaims) + R"("suspend": true,)"));
  cluster_.settle();
  EXPECT_FALSE(cluster_.claim("data-js").is_null());
  EXPECT_TRUE(cluster_.is_suspended("js-w-0"));
}

TEST_F(JobSetLife, ARefusedClaimIsToldAndTheOthersAreStillTried) {
  cluster_.create(jobset({kMounting}, kClaims));
  cluster_.set()
      .get({"spec", "volumeClaimPolicies"})
      .item(0)
      .get("templates")
      .item(0)
      .get("spec")
      .erase("accessModes");
  EXPECT_THAT(cluster_.pass(),
              ElementsAre("create services ns/js", "create persistentvolumeclaims ns/data-js",
                          "create persistentvolumeclaims ns/model-js"));
  EXPECT_THAT(cluster_.events, ElementsAre(AllOf(StartsWith("Warning PVCCreationFailed: "),
                                                 HasSubstr("spec.accessModes: Required value"))));
}

// Jobs that cannot be made.

TEST_F(JobSetLife, AnInvalidTemplateIsToldAgainAndAgainAndNothingElseHappens) {
  cluster_.create(jobset({job("a", {.pod = R"("containers": [])"}), job("b")}));
  for (int i = 0; i < 2; ++i) cluster_.pass();
  EXPECT_THAT(cluster_.events, ::testing::Each(StartsWith(
                                   "Warning JobCreationFailed: job \"js-a-0\" creation failed "
                                   "with error: Job.batch \"js-a-0\" is invalid: ")));
  EXPECT_EQ(cluster_.events.size(), 2u);
  EXPECT_THAT(cluster_.job_names(), IsEmpty()) << "the next entry is not tried";
  EXPECT_TRUE(cluster_.set().get({"status", "restarts"}).is_null());
}

TEST_F(JobSetLife, AForeignJobOfTheSameNameIsInTheWay) {
  cluster_.add_job(R"({"metadata": {"name": "js-w-0"}, "spec": {"template": {"spec":
      {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})");
  cluster_.create(jobset({job("w")}));
  cluster_.pass();
  EXPECT_THAT(cluster_.events, ElementsAre(StartsWith("Warning JobCreationFailed: ")));
}

// Managed by somebody else.

TEST_F(JobSetLife, ASetWithAnotherManagerIsNotTouched) {
  for (const std::string_view suspend : {"", R"("suspend": true,)"}) {
    Cluster cluster;
    cluster.create(jobset({job("w")}, fmt::format(R"({} "managedBy": "example.com/x",)", suspend)));
    EXPECT_THAT(cluster.pass(), IsEmpty());
  }
  cluster_.create(jobset({job("w")}, R"("managedBy": "jobset.sigs.k8s.io/jobset-controller",)"));
  EXPECT_THAT(cluster_.pass(), Contains("create jobs.batch ns/js-w-0"));
}

TEST_F(JobSetLife, AnotherManagersStatusIsKeptAndItsTimeToLiveEnds) {
  cluster_.create(
      jobset({job("w")}, R"("managedBy": "example.com/x", "ttlSecondsAfterFinished": 10,)"));
  json::Arena arena;
  cluster_.set().set("status", json::parse(arena, R"({"restarts": 7, "conditions": [
      {"type": "Completed", "status": "True", "reason": "R", "message": "",
       "lastTransitionTime": "2026-11-15T09:45:40Z"}]})")
                                   .value());
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.look_again, std::chrono::seconds(10));
  cluster_.wait(std::chrono::seconds(10));
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobsets.jobset.x-k8s.io ns/js"));
}

// Time to live.

class TimeToLive : public JobSetLife {
 protected:
  void finish(std::string_view more) {
    cluster_.create(jobset({job("w")}, more));
    cluster_.settle();
    cluster_.succeed("js-w-0");
    cluster_.settle();
  }
};

TEST_F(TimeToLive, RunsFromTheEnd) {
  finish(R"("ttlSecondsAfterFinished": 60,)");
  EXPECT_EQ(cluster_.last.look_again, std::chrono::seconds(60));
  cluster_.wait(std::chrono::seconds(45));
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.look_again, std::chrono::seconds(15));
  cluster_.wait(std::chrono::seconds(15));
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobsets.jobset.x-k8s.io ns/js"));
  EXPECT_FALSE(cluster_.has_set());
}

TEST_F(TimeToLive, OfZeroEndsAtOnce) {
  finish(R"("ttlSecondsAfterFinished": 0,)");
  EXPECT_FALSE(cluster_.has_set());
}

TEST_F(TimeToLive, WithoutOneTheSetStays) {
  finish("");
  cluster_.wait(std::chrono::hours(10'000));
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.look_again, std::nullopt);
}

TEST_F(TimeToLive, MayBeSaidAfterTheEnd) {
  finish("");
  cluster_.wait(std::chrono::hours(1));
  cluster_.edit(R"({"spec": {"ttlSecondsAfterFinished": 60}})");
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobsets.jobset.x-k8s.io ns/js"));
}

TEST_F(TimeToLive, WhileBeingDeletedItIsNotDeletedAgain) {
  finish(R"("ttlSecondsAfterFinished": 60,)");
  cluster_.wait(std::chrono::hours(1));
  cluster_.set().get("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

TEST_F(TimeToLive, NeedsTheTimeOfTheEnd) {
  finish(R"("ttlSecondsAfterFinished": 60,)");
  for (const Value each : cluster_.status().get("conditions").items()) {
    each.erase("lastTransitionTime");
  }
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.error, "unable to find the time when the JobSet ns/js finished");
}

// Elastic Jobs.

class Elastic : public JobSetLife {
 protected:
  void create(std::string_view spec) {
    cluster_.restart_controller_with_gates("ElasticJobSet=true");
    cluster_.create(jobset({job("w", {.replicas = 2, .spec = spec})}));
    cluster_.settle();
  }
  void scale(int parallelism, int completions) {
    const Value spec =
        cluster_.set().get({"spec", "replicatedJobs"}).item(0).get({"template", "spec"});
    spec.set("parallelism", Value::of(parallelism));
    spec.set("completions", Value::of(completions));
  }
};

TEST_F(Elastic, JobsFollowTheTemplate) {
  create(R"("parallelism": 2, "completions": 2)");
  EXPECT_THAT(cluster_.pass(), IsEmpty()) << "in step";
  cluster_.run("js-w-0");
  cluster_.succeed("js-w-1");
  cluster_.settle();
  scale(4, 4);
  EXPECT_THAT(cluster_.pass(), Contains("patch jobs.batch ns/js-w-0"));
  EXPECT_EQ(cluster_.job("js-w-0").get({"spec", "parallelism"}).as_int(), 4);
  EXPECT_EQ(cluster_.job("js-w-0").get({"spec", "completions"}).as_int(), 4);
  EXPECT_EQ(cluster_.job("js-w-1").get({"spec", "parallelism"}).as_int(), 2) << "is finished";
}

TEST_F(Elastic, OnlyWhenBothCountsAreEqual) {
  create(R"("parallelism": 2, "completions": 2)");
  scale(4, 2);
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

TEST_F(Elastic, CountsThatNobodySaidAreLeftAlone) {
  create("");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

TEST_F(Elastic, NotWithoutTheGate) {
  create(R"("parallelism": 2, "completions": 2)");
  scale(4, 4);
  cluster_.restart_controller_with_gates("ElasticJobSet=false");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
}

}  // namespace plan_test
}  // namespace muster::controllers::jobset
