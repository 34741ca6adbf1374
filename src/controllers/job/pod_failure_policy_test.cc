#include "controllers/job/pod_failure_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace pod_failure_policy_test {

using testing::job;
using testing::pod;
using testing::PodText;

constexpr auto kIgnore = FailureAction::kIgnore;
constexpr auto kCount = FailureAction::kCount;
constexpr auto kFailIndex = FailureAction::kFailIndex;
constexpr auto kFailJob = FailureAction::kFailJob;

Job with_rules(std::string_view rules) {
  return job(fmt::format(R"("completionMode":"Indexed","completions":9,"backoffLimitPerIndex":1,)"
                         R"("podFailurePolicy":{{"rules":[{}]}})",
                         rules));
}
std::string codes(std::string_view action, std::string_view op, std::string_view values,
                  std::string_view container = "") {
  return fmt::format(
      R"({{"action":"{}","onExitCodes":{{{}"operator":"{}","values":[{}]}}}})", action,
      container.empty() ? "" : fmt::format(R"("containerName":"{}",)", container), op, values);
}
std::string condition(std::string_view action, std::string_view type,
                      std::string_view status = "True") {
  return fmt::format(R"({{"action":"{}","onPodConditions":[{{"type":"{}","status":"{}"}}]}})",
                     action, type, status);
}
PodText exited(int code) { return pod("p").failed({}, code); }

struct Row {
  std::string_view name;
  std::string rules;
  PodText pod;
  std::optional<FailureAction> action;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto verdict = judge(with_rules(row.rules), row.pod);
    const auto action = verdict ? std::optional(verdict->action) : std::nullopt;
    EXPECT_EQ(action, row.action) << row.name;
  }
}

TEST(PodFailurePolicy, ExitCodes) {
  check({
      {"a listed code", codes("FailJob", "In", "1,42"), exited(42), kFailJob},
      {"another code", codes("FailJob", "In", "1,42"), exited(2), {}},
      {"not listed", codes("Ignore", "NotIn", "1,42"), exited(2), kIgnore},
      {"listed, but wanted are others", codes("Ignore", "NotIn", "1,42"), exited(42), {}},
      {"negative codes", codes("FailJob", "In", "-1"), exited(-1), kFailJob},
      {"NotIn 0 matches any failure", codes("FailJob", "NotIn", "0"), exited(5), kFailJob},
      {"an exit with 0 is never looked at",
       codes("FailJob", "NotIn", "5"),
       pod("p").phase("Failed").exit(0),
       {}},
      {"one container of several", codes("FailJob", "In", "5"),
       pod("p").phase("Failed").exit(0, "a").exit(5, "b"), kFailJob},
      {"only the named container",
       codes("FailJob", "In", "5", "a"),
       pod("p").phase("Failed").exit(1, "a").exit(5, "b"),
       {}},
      {"the named container", codes("FailJob", "In", "5", "b"),
       pod("p").phase("Failed").exit(1, "a").exit(5, "b"), kFailJob},
      {"init containers too", codes("FailJob", "In", "5", "i"),
       pod("p").phase("Failed").exit(5, "i", {}, "initContainerStatuses"), kFailJob},
      {"a pod that has not failed is not judged",
       codes("FailJob", "In", "5"),
       pod("p").phase("Running").exit(5, "a").running("b"),
       {}},
      {"an operator of the future is skipped",
       codes("FailJob", "Near", "5") + "," + codes("Ignore", "In", "5"), exited(5), kIgnore},
  });
}

TEST(PodFailurePolicy, Conditions) {
  const auto failed = [](std::string_view type, std::string_view status) {
    return pod("p").failed().condition(type, status);
  };
  check({
      {"holds", condition("Ignore", "DisruptionTarget"), failed("DisruptionTarget", "True"),
       kIgnore},
      {"does not hold",
       condition("Ignore", "DisruptionTarget"),
       failed("DisruptionTarget", "False"),
       {}},
      {"is wanted not to hold", condition("Ignore", "X", "False"), failed("X", "False"), kIgnore},
      {"is unknown", condition("Ignore", "X", "Unknown"), failed("X", "Unknown"), kIgnore},
      {"another type", condition("Ignore", "X"), failed("Y", "True"), {}},
      {"absent is not False", condition("Ignore", "X", "False"), pod("p").failed(), {}},
  });
}

TEST(PodFailurePolicy, TheFirstRuleThatMatchesDecides) {
  check({
      {"Ignore", codes("Ignore", "In", "1") + "," + codes("FailJob", "In", "1"), exited(1),
       kIgnore},
      {"Count", codes("Count", "In", "1") + "," + codes("FailJob", "In", "1"), exited(1), kCount},
      {"FailIndex", codes("FailIndex", "In", "1") + "," + codes("Ignore", "In", "1"), exited(1),
       kFailIndex},
      {"FailJob", codes("FailJob", "In", "1") + "," + codes("Ignore", "In", "1"), exited(1),
       kFailJob},
      {"codes before conditions, by order only",
       condition("Count", "X") + "," + codes("FailJob", "In", "1"),
       exited(1).condition("X", "True"), kCount},
      {"the second, if the first does not match",
       codes("Ignore", "In", "2") + "," + codes("FailJob", "In", "1"), exited(1), kFailJob},
      {"an action of the future is skipped",
       codes("Explode", "In", "1") + "," + codes("Ignore", "In", "1"), exited(1), kIgnore},
      {"none", codes("Ignore", "In", "2"), exited(1), {}},
      {"no rules", "", exited(1), {}},
  });
}

TEST(PodFailurePolicy, SaysWhyTheJobFails) {
  const Job j = with_rules(codes("Ignore", "In", "9") + "," + codes("FailJob", "In", "42"));
  EXPECT_EQ(judge(j, exited(42))->message,
            "Container c for pod d/p failed with exit code 42 matching FailJob rule at index 1");
  EXPECT_EQ(judge(with_rules(condition("FailJob", "X")), pod("p").failed().condition("X", "True"))
                ->message,
            "Pod d/p has condition X matching FailJob rule at index 0");
}

TEST(PodFailurePolicy, OnlyIgnoredFailuresDoNotCount) {
  EXPECT_FALSE(counts_as_failure(with_rules(codes("Ignore", "In", "1")), exited(1)));
  EXPECT_TRUE(counts_as_failure(with_rules(codes("Ignore", "In", "1")), exited(2)));
  for (const std::string_view action : {"Count", "FailIndex", "FailJob"})
    EXPECT_TRUE(counts_as_failure(with_rules(codes(action, "In", "1")), exited(1))) << action;
  EXPECT_TRUE(counts_as_failure(job(""), exited(1)));
}

TEST(PodFailurePolicy, APodThatGoesHasFailedUnlessSomebodyWaitsForHow) {
  const Pod going = pod("p").phase("Running").deleted();
  const Pod succeeded = pod("p").succeeded().deleted();
  const Pod failed = pod("p").failed();
  EXPECT_TRUE(is_failed(job(""), going));
  EXPECT_FALSE(is_failed(job(R"("podReplacementPolicy":"Failed")"), going));
  EXPECT_FALSE(is_failed(with_rules(""), going));
  for (const Job& each : {job(""), with_rules("")}) {
    EXPECT_FALSE(is_failed(each, succeeded));
    EXPECT_TRUE(is_failed(each, failed));
  }
}

}  // namespace pod_failure_policy_test
}  // namespace muster::controllers::job
