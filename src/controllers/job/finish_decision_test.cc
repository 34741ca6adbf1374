#include "controllers/job/finish_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace finish_decision_test {

using std::chrono::seconds;
using testing::job;
using testing::kStart;
using testing::pod;
using testing::PodText;
using testing::pointers;

// "reason" or "" if the Job goes on.
std::string decide(const Job& j, const std::vector<Pod>& pods, int now = 0) {
  const auto finish =
      decide_finish(j, count(j, pointers(pods)), j.start_time, kStart + seconds(now));
  return finish ? finish->reason : "";
}

TEST(FinishDecision, FailedPodsAgainstTheBackoffLimit) {
  struct Row {
    int limit;
    int failed_before;
    std::vector<Pod> pods;
    std::string_view reason;
  };
  const std::vector<Row> rows = {
      {0, 0, {pod("a").phase("Running")}, ""},
      {0, 0, {pod("a").failed()}, "BackoffLimitExceeded"},
      {1, 0, {pod("a").failed()}, ""},
      {1, 0, {pod("a").failed(), pod("b").failed()}, "BackoffLimitExceeded"},
      {1, 1, {pod("a").failed()}, "BackoffLimitExceeded"},
      {6, 5, {pod("a").failed()}, ""},
      {6, 6, {pod("a").failed()}, "BackoffLimitExceeded"},
      {6, 7, {}, "BackoffLimitExceeded"},
      {0, 0, {pod("a").failed().untracked()}, ""},
  };
  for (const Row& row : rows) {
    const Job j = job(fmt::format(R"("backoffLimit":{})", row.limit),
                      fmt::format(R"("failed":{})", row.failed_before));
    EXPECT_EQ(decide(j, row.pods), row.reason)
        << row.limit << ", " << row.failed_before << " + " << row.pods.size();
  }
}

Job restarting(int limit) {
  Job j = job(fmt::format(R"("backoffLimit":{})", limit));
  j.restarts_in_place = true;
  return j;
}

TEST(FinishDecision, RestartsInPlaceAgainstTheBackoffLimit) {
  const auto running = [](int restarts) { return pod("a").phase("Running").restarts(restarts); };
  const auto pending = [](int restarts) {
    return pod("b").restarts(restarts, "initContainerStatuses");
  };
  struct Row {
    std::string_view name;
    int limit;
    std::vector<Pod> pods;
    bool over;
  };
  const std::vector<Row> rows = {
      {"none allowed, none happened", 0, {running(0)}, false},
      {"none allowed", 0, {running(1)}, true},
      {"as many as allowed", 1, {running(1)}, true},
      {"fewer than allowed", 4, {running(3)}, false},
      {"init containers of a pending pod", 4, {pending(4)}, true},
      {"all pods together", 5, {running(2), pending(3)}, true},
      {"not enough together", 6, {running(2), pending(3)}, false},
      {"ended pods do not matter", 1, {running(5).phase("Succeeded")}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(decide(restarting(row.limit), row.pods), row.over ? "BackoffLimitExceeded" : "")
        << row.name;
    EXPECT_EQ(decide(job(fmt::format(R"("backoffLimit":{})", row.limit)), row.pods), "")
        << "Never: " << row.name;
  }
}

TEST(FinishDecision, TheDeadline) {
  struct Row {
    std::string_view name, spec, status;
    int now;
    std::string_view reason;
    std::optional<Duration> left;
  };
  constexpr std::string_view kStarted = R"("startTime":"2026-03-01T00:00:00Z")";
  const std::vector<Row> rows = {
      {"none", "", kStarted, 9999, "", {}},
      {"not over", R"("activeDeadlineSeconds":10)", kStarted, 9, "", seconds(1)},
      {"over", R"("activeDeadlineSeconds":10)", kStarted, 10, "DeadlineExceeded", seconds(0)},
      {"long over", R"("activeDeadlineSeconds":10)", kStarted, 99, "DeadlineExceeded",
       seconds(-89)},
      {"does not run before the start", R"("activeDeadlineSeconds":10)", "", 99, "", {}},
      {"does not run while suspended",
       R"("activeDeadlineSeconds":10,"suspend":true)",
       kStarted,
       99,
       "",
       {}},
  };
  for (const Row& row : rows) {
    const Job j = job(row.spec, row.status);
    EXPECT_EQ(decide(j, {}, row.now), row.reason) << row.name;
    EXPECT_EQ(until_deadline(j, j.start_time, kStart + seconds(row.now)), row.left) << row.name;
  }
}

TEST(FinishDecision, ADeadlineMayBeFurtherAwayThanClocksCount) {
  for (const char* const span : {"10000000000000", "9223372036854775807"}) {
    const Job j = job(fmt::format(R"("activeDeadlineSeconds":{})", span),
                      R"("startTime":"2026-03-01T00:00:00Z")");
    EXPECT_EQ(decide(j, {}, 99), "") << span;
    EXPECT_GT(until_deadline(j, j.start_time, kStart), std::chrono::years(100)) << span;
  }
}

TEST(FinishDecision, TheBackoffLimitBeatsTheDeadline) {
  const Job j = job(R"("activeDeadlineSeconds":10,"backoffLimit":0)",
                    R"("startTime":"2026-03-01T00:00:00Z")");
  EXPECT_EQ(decide(j, {pod("a").failed()}, 99), "BackoffLimitExceeded");
}

TEST(FinishDecision, WhatWasAnnouncedStays) {
  const auto announced = [](std::string_view type, std::string_view status) {
    return job(R"("backoffLimit":0)",
               fmt::format(R"("conditions":[{{"type":"{}","status":"{}","reason":"R",)"
                           R"("message":"M"}}])",
                           type, status));
  };
  for (const std::string_view type : {"SuccessCriteriaMet", "FailureTarget"}) {
    const Job j = announced(type, "True");
    const std::vector<Pod> pods = {pod("a").failed()};
    const auto finish = decide_finish(j, count(j, pointers(pods)), {}, kStart);
    ASSERT_TRUE(finish);
    EXPECT_EQ(finish->success, type == "SuccessCriteriaMet");
    EXPECT_TRUE(finish->announced);
    EXPECT_EQ(finish->reason, "R");
    EXPECT_EQ(finish->message, "M");
    EXPECT_EQ(decide(announced(type, "False"), {}), "") << "somebody's False says nothing";
    EXPECT_EQ(decide(announced(type, "False"), pods), "BackoffLimitExceeded");
  }
}

constexpr std::string_view kFailJob =
    R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":)"
    R"({"operator":"In","values":[42]}}]})";

TEST(FinishDecision, APolicyFailsTheJobBeforeAnyLimit) {
  const Job j = job(fmt::format(R"("backoffLimit":0,{})", kFailJob));
  EXPECT_EQ(decide(j, {pod("a").failed({}, 42)}), "PodFailurePolicy");
  EXPECT_EQ(decide(j, {pod("a").failed({}, 42).untracked()}), "PodFailurePolicy");
  EXPECT_EQ(decide(j, {pod("a").failed({}, 1), pod("b").failed({}, 42)}), "PodFailurePolicy");
  EXPECT_EQ(decide(j, {pod("a").failed({}, 1)}), "BackoffLimitExceeded");
  EXPECT_EQ(decide(j, {pod("a").phase("Running").deleted()}), "")
      << "a pod that goes is judged when it has failed";
}

Job indexed(std::string_view more) {
  return job(fmt::format(R"("completionMode":"Indexed","completions":3,"parallelism":3,)"
                         R"("backoffLimit":2147483647{})",
                         more));
}
PodText failed(std::int64_t index, int failures = 0) {
  return pod(index).failed().annotation(kIndexFailureCount, std::to_string(failures));
}

TEST(FinishDecision, FailedIndexes) {
  struct Row {
    std::string_view name, spec;
    std::vector<Pod> pods;
    std::string_view reason;
  };
  const std::vector<Row> rows = {
      {"others go on", R"(,"backoffLimitPerIndex":0)", {failed(0), pod(1).succeeded(), pod(2)}, ""},
      {"all settled, one failed",
       R"(,"backoffLimitPerIndex":0)",
       {failed(0), pod(1).succeeded(), pod(2).succeeded()},
       "FailedIndexes"},
      {"all failed",
       R"(,"backoffLimitPerIndex":0)",
       {failed(0), failed(1), failed(2)},
       "FailedIndexes"},
      {"as many as allowed",
       R"(,"backoffLimitPerIndex":0,"maxFailedIndexes":1)",
       {failed(0), pod(1), pod(2)},
       ""},
      {"more than allowed",
       R"(,"backoffLimitPerIndex":0,"maxFailedIndexes":1)",
       {failed(0), failed(1), pod(2)},
       "MaxFailedIndexesExceeded"},
      {"the first one too many",
       R"(,"backoffLimitPerIndex":0,"maxFailedIndexes":0)",
       {failed(0), pod(1).succeeded(), pod(2).succeeded()},
       "MaxFailedIndexesExceeded"},
      {"an index that may try again",
       R"(,"backoffLimitPerIndex":1)",
       {failed(0), pod(1).succeeded(), pod(2).succeeded()},
       ""},
  };
  for (const Row& row : rows)
    EXPECT_EQ(decide(indexed(row.spec), row.pods), row.reason) << row.name;
}

TEST(FinishDecision, TheLimitOfTheJobBeatsFailedIndexes) {
  const Job j = job(R"("completionMode":"Indexed","completions":2,"parallelism":2,)"
                    R"("backoffLimitPerIndex":0,"backoffLimit":1)");
  EXPECT_EQ(decide(j, {failed(0), failed(1)}), "BackoffLimitExceeded");
}

TEST(FinishDecision, ASuccessPolicyEndsTheJobUnlessItFailsAtTheSameTime) {
  constexpr std::string_view kFirst = R"(,"successPolicy":{"rules":[{"succeededIndexes":"0"}]})";
  const std::vector<Pod> met = {pod(0).succeeded(), failed(1), pod(2).phase("Running")};
  EXPECT_EQ(decide(indexed(kFirst), met), "SuccessPolicy");
  EXPECT_EQ(decide(indexed(kFirst), {pod(1).succeeded(), pod(0)}), "");
  EXPECT_EQ(
      decide(indexed(fmt::format(R"({},"backoffLimitPerIndex":0,"maxFailedIndexes":0)", kFirst)),
             met),
      "MaxFailedIndexesExceeded");
  const auto finish = decide_finish(indexed(kFirst), count(indexed(kFirst), pointers(met)), {}, {});
  EXPECT_EQ(finish->message, "Matched rules at index 0");
  EXPECT_TRUE(finish->success);
}

TEST(FinishDecision, Completion) {
  struct Row {
    std::string_view name, spec;
    std::vector<Pod> pods;
    std::int64_t active;
    bool complete;
  };
  const std::vector<Row> rows = {
      {"enough", R"("completions":2)", {pod("a").succeeded(), pod("b").succeeded()}, 0, true},
      {"not enough", R"("completions":2)", {pod("a").succeeded()}, 0, false},
      {"enough, but one still runs", R"("completions":1)", {pod("a").succeeded()}, 1, false},
      {"none wanted", R"("completions":0)", {}, 0, true},
      {"more than enough",
       R"("completions":1)",
       {pod("a").succeeded(), pod("b").succeeded()},
       0,
       true},
      {"a work queue needs one", "", {pod("a").succeeded()}, 0, true},
      {"a work queue waits for the rest", "", {pod("a").succeeded()}, 1, false},
      {"a work queue is done despite a failure",
       "",
       {pod("a").succeeded(), pod("b").failed()},
       0,
       true},
      {"a work queue without success", "", {pod("b").failed()}, 0, false},
      {"each index once",
       R"("completionMode":"Indexed","completions":2)",
       {pod(0).succeeded(), pod("again").index(0).succeeded()},
       0,
       false},
      {"every index",
       R"("completionMode":"Indexed","completions":2)",
       {pod(0).succeeded(), pod(1).succeeded()},
       0,
       true},
  };
  for (const Row& row : rows) {
    const Job j = job(row.spec);
    const auto finish = decide_completion(j, count(j, pointers(row.pods)), row.active);
    EXPECT_EQ(finish.has_value(), row.complete) << row.name;
    EXPECT_EQ(finish ? finish->reason : "", row.complete ? "CompletionsReached" : "") << row.name;
  }
}

}  // namespace finish_decision_test
}  // namespace muster::controllers::job
