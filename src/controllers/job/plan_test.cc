#include "controllers/job/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::controllers::job {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class JobPlan : public testing::Test {
 protected:
  JobPlan() {
    jobs_.gvk.group = "batch";
    jobs_.plural = "jobs";
    pods_.plural = "pods";
  }
  Value parse(std::string_view text) { return *json::parse(arena_, text); }
  Value pod(int index, std::string_view phase) {
    Value out = parse(R"({"metadata":{"namespace":"d","annotations":{}},"status":{}})");
    out.get("metadata").set("name", fmt::format("j-{}-x", index));
    out.get({"metadata", "annotations"})
        .set("batch.kubernetes.io/job-completion-index", std::to_string(index));
    out.get("status").set("phase", phase);
    return out;
  }
  std::vector<std::string> plan_for(const std::vector<Value>& pods) {
    last_ = plan({&jobs_, &pods_}, {.job = job_, .pods = pods}, Time{});
    std::vector<std::string> out;
    for (const auto& write : last_.operations()) out.push_back(write.summary());
    return out;
  }
  std::string status() const {
    return last_.operations().empty() ? "" : last_.operations().back().body;
  }

  json::Arena arena_;
  api::Resource jobs_, pods_;
  Value job_ =
      parse(R"({"metadata":{"name":"j","namespace":"d","uid":"u","resourceVersion":"1"},"spec":{
    "completionMode":"Indexed","parallelism":2,"completions":3,"backoffLimit":1,
    "template":{"metadata":{"labels":{"l":"1"}},"spec":{"containers":[{"name":"c"}]}}}})");
  Plan last_;
};

TEST_F(JobPlan, StartsAsManyPodsAsMayRunAtOnce) {
  EXPECT_THAT(plan_for({}),
              ElementsAre("create pods d/j-0", "create pods d/j-1", "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("active":2)"));
}

TEST_F(JobPlan, APodKnowsItsIndex) {
  plan_for({pod(0, "Running")});
  EXPECT_THAT(last_.operations()[0].body, HasSubstr(R"("hostname":"j-1")"));
  EXPECT_THAT(last_.operations()[0].body,
              HasSubstr(R"("batch.kubernetes.io/job-completion-index":"1")"));
  EXPECT_THAT(last_.operations()[0].body, HasSubstr("JOB_COMPLETION_INDEX"));
}

TEST_F(JobPlan, FillsTheIndexThatIsMissing) {
  EXPECT_THAT(plan_for({pod(0, "Succeeded"), pod(2, "Running")}),
              ElementsAre("create pods d/j-1", "patch jobs.batch/status d/j"));
}

TEST_F(JobPlan, ReplacesAFailedPodUntilTheLimit) {
  EXPECT_EQ(plan_for({pod(0, "Failed"), pod(1, "Running")})[0], "create pods d/j-0");
  plan_for({pod(0, "Failed"), pod(0, "Failed")});
  EXPECT_THAT(status(), HasSubstr("BackoffLimitExceeded"));
}

TEST_F(JobPlan, IsCompleteWhenEveryIndexIs) {
  EXPECT_THAT(plan_for({pod(0, "Succeeded"), pod(1, "Succeeded"), pod(2, "Succeeded")}),
              ElementsAre("patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("completedIndexes":"0-2")"));
  EXPECT_THAT(status(), HasSubstr(R"("type":"Complete")"));
}

TEST_F(JobPlan, AFailedJobStopsItsLastPodsBeforeItSaysSo) {
  const auto writes = plan_for({pod(0, "Failed"), pod(0, "Failed"), pod(1, "Running")});
  EXPECT_EQ(writes[0], "delete pods d/j-1-x");
  EXPECT_THAT(status(), HasSubstr("FailureTarget"));
  EXPECT_THAT(status(), Not(HasSubstr(R"("type":"Failed")")));
}

TEST_F(JobPlan, ASuspendedJobStartsNothing) {
  job_.get("spec").set("suspend", Value::of(true));
  EXPECT_THAT(plan_for({}), ElementsAre("patch jobs.batch/status d/j"));
}

TEST_F(JobPlan, ThereIsNothingToDoTheSecondTime) {
  const std::vector pods = {pod(0, "Running"), pod(1, "Running")};
  plan_for(pods);
  job_.set("status", parse(status()).get("status"));
  EXPECT_THAT(plan_for(pods), IsEmpty());
}

}  // namespace
}  // namespace muster::controllers::job
