#include "controllers/ttl/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::ttl {
namespace plan_test {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kFinishedAt = "2026-03-01T00:00:00Z";

Time at(int after) { return *parse_time(kFinishedAt) + seconds(after); }

std::string job(std::string_view ttl, std::string_view conditions, std::string_view more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"j","namespace":"d","uid":"u","resourceVersion":"7"{}}},)"
      R"("spec":{{{}}},"status":{{"conditions":[{}]}}}})",
      more, ttl, conditions);
}
std::string condition(std::string_view type, std::string_view status = "True",
                      std::string_view when = kFinishedAt) {
  return fmt::format(R"({{"type":"{}","status":"{}","lastTransitionTime":"{}"}})", type, status,
                     when);
}
std::string ttl(int life) { return fmt::format(R"("ttlSecondsAfterFinished":{})", life); }

class TtlPlan : public ::testing::Test {
 protected:
  TtlPlan() {
    jobs_.gvk.group = "batch";
    jobs_.plural = "jobs";
  }
  Plan plan_for(const std::string& text, Time now) {
    return plan(jobs_, controllers::testing::read_as(read_candidate, text), now);
  }
  api::Resource jobs_;
};

TEST_F(TtlPlan, LeavesJobsAloneThatHaveNotFinishedOrHaveNoTtl) {
  const std::vector<std::string> jobs = {
      job(ttl(0), ""),
      job(ttl(0), condition("Complete", "False")),
      job(ttl(0), condition("FailureTarget") + "," + condition("Suspended")),
      job("", condition("Complete")),
      job(ttl(0), condition("Complete"), R"(,"deletionTimestamp":"2026-03-01T00:00:00Z")"),
  };
  for (const std::string& text : jobs) {
    const Plan plan = plan_for(text, at(1'000));
    EXPECT_FALSE(plan.has_writes()) << text;
    EXPECT_FALSE(plan.look_again) << text;
  }
}

TEST_F(TtlPlan, WaitsUntilTheTimeIsOver) {
  for (const std::string_view end : {"Complete", "Failed"}) {
    const Plan plan = plan_for(job(ttl(10), condition(end)), at(3));
    EXPECT_FALSE(plan.has_writes());
    EXPECT_EQ(plan.look_again, seconds(7)) << end;
  }
}

TEST_F(TtlPlan, RemovesTheJobWithItsPodsWhenTheTimeIsOver) {
  for (const auto& [life, now] : {std::pair(0, 0), std::pair(10, 10), std::pair(10, 500)}) {
    const Plan plan = plan_for(job(ttl(life), condition("Complete")), at(now));
    ASSERT_EQ(plan.operations().size(), 1u);
    EXPECT_EQ(plan.operations()[0].summary(), "delete jobs.batch d/j");
    EXPECT_EQ(
        plan.operations()[0].body.text(),
        R"({"propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"7"}})");
  }
}

TEST_F(TtlPlan, TheFirstTerminalConditionTellsWhen) {
  const std::string conditions = condition("SuccessCriteriaMet") + "," + condition("Failed") + "," +
                                 condition("Complete", "True", "2026-03-01T01:00:00Z");
  EXPECT_TRUE(plan_for(job(ttl(10), conditions), at(10)).has_writes());
}

TEST_F(TtlPlan, AnEndInTheFutureIsWaitedFor) {
  EXPECT_EQ(plan_for(job(ttl(10), condition("Complete")), at(-60)).look_again, seconds(70));
}

TEST_F(TtlPlan, AJobThatDoesNotSayWhenItFinishedIsAnError) {
  const Plan plan = plan_for(job(ttl(0), R"({"type":"Failed","status":"True"})"), at(0));
  EXPECT_THAT(plan.operations(), IsEmpty());
  EXPECT_THAT(plan.error, HasSubstr("when it finished"));
}

TEST_F(TtlPlan, JobsOfOtherManagersGoToo) {
  EXPECT_TRUE(plan_for(job(ttl(0) + R"(,"managedBy":"acme.io/x")", condition("Complete")), at(1))
                  .has_writes());
}

}  // namespace plan_test
}  // namespace muster::controllers::ttl
