#include "controllers/jobset/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::controllers::jobset {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

api::Resource resource(const char* group, const char* plural) {
  api::Resource out;
  out.gvk.group = group;
  out.plural = plural;
  return out;
}

class JobSetPlan : public testing::Test {
 protected:
  Value parse(std::string_view text) { return *json::parse(arena_, text); }
  Value job(std::string_view name, std::string_view replicated_job,
            std::string_view condition = "") {
    Value out = parse(
        R"({"metadata":{"labels":{}},"spec":{"parallelism":1,"completions":1},"status":{"conditions":[]}})");
    out.get("metadata").set("name", name);
    out.get({"metadata", "labels"}).set("jobset.sigs.k8s.io/replicatedjob-name", replicated_job);
    if (!condition.empty()) {
      Value entry = Value::object(arena_);
      entry.set("type", condition);
      entry.set("status", "True");
      out.get({"status", "conditions"}).push_back(entry);
    }
    return out;
  }
  std::vector<std::string> plan_for(const std::vector<Value>& jobs, bool has_service = true) {
    last_ = plan({&job_sets_, &jobs_, &services_},
                 {.job_set = set_, .jobs = jobs, .has_service = has_service}, Time{});
    std::vector<std::string> out;
    for (const auto& write : last_.operations()) out.push_back(write.summary());
    return out;
  }

  json::Arena arena_;
  api::Resource job_sets_ = resource("jobset.x-k8s.io", "jobsets"),
                jobs_ = resource("batch", "jobs"), services_ = resource("", "services");
  Value set_ = parse(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",
    "metadata":{"name":"t","namespace":"d","uid":"u","resourceVersion":"1"},
    "spec":{"network":{"enableDNSHostnames":true},"replicatedJobs":[
      {"name":"a","replicas":1,"template":{"spec":{"template":{"spec":{}}}}},
      {"name":"b","replicas":2,"template":{"spec":{"template":{"spec":{}}}}}]}})");
  Plan last_;
};

TEST_F(JobSetPlan, ANewSetGetsItsServiceItsJobsAndAStatus) {
  EXPECT_THAT(
      plan_for({}, false),
      ElementsAre("create services d/t", "create jobs.batch d/t-a-0", "create jobs.batch d/t-b-0",
                  "create jobs.batch d/t-b-1", "patch jobsets.jobset.x-k8s.io/status d/t"));
}

TEST_F(JobSetPlan, CreatesOnlyWhatIsMissing) {
  const auto writes = plan_for({job("t-a-0", "a"), job("t-b-0", "b")});
  EXPECT_EQ(writes[0], "create jobs.batch d/t-b-1");
  EXPECT_EQ(writes.size(), 2u);
}

TEST_F(JobSetPlan, JobsCarryTheirIndexesAndTheirOwner) {
  plan_for({});
  EXPECT_THAT(last_.operations()[2].body,
              HasSubstr(R"("jobset.sigs.k8s.io/job-global-index":"2")"));
  EXPECT_THAT(last_.operations()[2].body, HasSubstr(R"("subdomain":"t")"));
  EXPECT_THAT(last_.operations()[2].body, HasSubstr(R"("uid":"u","controller":true)"));
}

TEST_F(JobSetPlan, ADependentWaitsUntilItsDependencyIsComplete) {
  Value dependency = parse(R"([{"name":"a","status":"Complete"}])");
  set_.get({"spec", "replicatedJobs"}).item(1).set("dependsOn", dependency);
  EXPECT_THAT(plan_for({}),
              ElementsAre("create jobs.batch d/t-a-0", "patch jobsets.jobset.x-k8s.io/status d/t"));
  EXPECT_EQ(plan_for({job("t-a-0", "a")}).size(), 1u);
  EXPECT_EQ(plan_for({job("t-a-0", "a", "Complete")})[0], "create jobs.batch d/t-b-0");
}

TEST_F(JobSetPlan, InOrderTheNextPartWaitsUntilThisOneIsReady) {
  set_.get("spec").object_at("startupPolicy").set("startupPolicyOrder", "InOrder");
  const Value starting = job("t-a-0", "a");
  EXPECT_EQ(plan_for({starting}).size(), 1u);
  starting.get("status").set("ready", Value::of(1));
  EXPECT_EQ(plan_for({starting})[0], "create jobs.batch d/t-b-0");
}

TEST_F(JobSetPlan, CompletesWhenAllJobsHave) {
  plan_for({job("t-a-0", "a", "Complete"), job("t-b-0", "b", "Complete"),
            job("t-b-1", "b", "Complete")});
  ASSERT_EQ(last_.operations().size(), 1u);
  EXPECT_THAT(last_.operations()[0].body, HasSubstr("AllJobsCompleted"));
}

TEST_F(JobSetPlan, FailsWithTheFirstFailedJob) {
  plan_for({job("t-a-0", "a"), job("t-b-0", "b", "Failed")});
  EXPECT_THAT(last_.operations()[0].body, HasSubstr("(first failed job: t-b-0)"));
}

TEST_F(JobSetPlan, ThereIsNothingToDoTheSecondTime) {
  const std::vector jobs = {job("t-a-0", "a"), job("t-b-0", "b"), job("t-b-1", "b")};
  plan_for(jobs);
  set_.set("status", parse(last_.operations()[0].body).get("status"));
  EXPECT_THAT(plan_for(jobs), IsEmpty());
}

TEST_F(JobSetPlan, ASetThatIsBeingDeletedIsLeftAlone) {
  set_.get("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_THAT(plan_for({}), IsEmpty());
}

}  // namespace
}  // namespace muster::controllers::jobset
