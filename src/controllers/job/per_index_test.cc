#include "controllers/job/per_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/census.h"
#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace per_index_test {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::kStart;
using ::testing::Pair;
using testing::pod;
using testing::PodText;
using testing::pointers;

Job per_index(int limit, std::string_view status = "", std::string_view rules = "") {
  return job(fmt::format(R"("completionMode":"Indexed","completions":5,"parallelism":5,)"
                         R"("backoffLimitPerIndex":{},"backoffLimit":2147483647{})",
                         limit, rules),
             status);
}

constexpr std::string_view kPolicy =
    R"(,"podFailurePolicy":{"rules":[)"
    R"({"action":"FailIndex","onExitCodes":{"operator":"In","values":[3]}},)"
    R"({"action":"Ignore","onExitCodes":{"operator":"In","values":[4]}},)"
    R"({"action":"Count","onExitCodes":{"operator":"In","values":[5]}}]})";

PodText failed(std::int64_t index, int failures, int code = 1) {
  return pod(index).failed({}, code).annotation(kIndexFailureCount, std::to_string(failures));
}

TEST(PerIndex, AnIndexFailsWhenItsPodFailedOnceTooOften) {
  struct Row {
    std::string_view name;
    int limit;
    PodText pod;
    std::string_view failed;
  };
  const std::vector<Row> rows = {
      {"below the limit", 1, failed(2, 0), ""},
      {"at the limit", 1, failed(2, 1), "2"},
      {"no second chance at all", 0, failed(2, 0), "2"},
      {"without its finalizer it was counted before", 1, failed(2, 1).untracked(), ""},
      {"still running", 0, pod(2).phase("Running"), ""},
      {"succeeded", 0, pod(2).succeeded(), ""},
      {"out of range", 0, failed(7, 0), ""},
      {"without an index", 0, pod("p").failed(), ""},
  };
  for (const Row& row : rows) {
    const std::vector<Pod> pods = {row.pod};
    EXPECT_EQ(failed_indexes(per_index(row.limit), pointers(pods)).text(), row.failed) << row.name;
  }
}

TEST(PerIndex, ThePolicyFailsIndexesAndIgnoresFailures) {
  const std::vector<Pod> pods = {failed(0, 0, 3), failed(1, 9, 4), failed(2, 6, 5),
                                 failed(3, 5, 5)};
  EXPECT_EQ(failed_indexes(per_index(6, "", kPolicy), pointers(pods)).text(), "0,2");
}

TEST(PerIndex, FailedIndexesStayAndEndWithCompletions) {
  const std::vector<Pod> pods = {failed(1, 1)};
  EXPECT_EQ(failed_indexes(per_index(1, R"("failedIndexes":"3-9")"), pointers(pods)).text(),
            "1,3,4");
}

HeldBack held(const std::vector<Pod>& pods, std::string_view status = "") {
  return count(per_index(6, status), pointers(pods)).held_back;
}

TEST(PerIndex, HoldsTheLastFailedPodOfAnIndexBack) {
  struct Row {
    std::string_view name;
    std::vector<Pod> pods;
    std::string_view held;  // its name
  };
  const auto named = [](std::string name, int failures, int at) {
    return pod(std::move(name))
        .index(1)
        .failed(seconds(at))
        .annotation(kIndexFailureCount, std::to_string(failures));
  };
  const std::vector<Row> rows = {
      {"one", {named("a", 0, 1)}, "a"},
      {"the one with most failures", {named("a", 2, 5), named("b", 1, 5)}, "a"},
      {"that finished last", {named("a", 1, 5), named("b", 1, 7)}, "b"},
      {"ignored failures count for it, too",
       {named("a", 1, 5).annotation(kIndexIgnoredFailureCount, "3"), named("b", 2, 5)},
       "a"},
      {"counted before", {named("a", 1, 5).untracked()}, ""},
      {"out of range", {pod(8).failed()}, ""},
      {"the index is active again", {named("a", 1, 5), pod("b").index(1)}, ""},
      {"the index has succeeded", {named("a", 1, 5), pod("b").index(1).succeeded()}, ""},
      {"the index has failed", {named("a", 6, 5)}, ""},
  };
  for (const Row& row : rows) {
    const HeldBack found = held(row.pods);
    if (row.held.empty()) {
      EXPECT_THAT(found, IsEmpty()) << row.name;
    } else {
      ASSERT_EQ(found.size(), 1u) << row.name;
      EXPECT_EQ(found.at(1)->ref.name, row.held) << row.name;
    }
  }
}

TEST(PerIndex, NothingIsHeldBackForAnIndexThatTheStatusLists) {
  const std::vector<Pod> pods = {failed(1, 0), failed(2, 0)};
  EXPECT_THAT(held(pods, R"("completedIndexes":"1","failedIndexes":"2")"), IsEmpty());
}

TEST(PerIndex, TheNextPodInheritsTheCountsAndOneMore) {
  const Job j = per_index(6, "", kPolicy);
  const auto after = [&](const PodText& replaced) {
    const Pod view = replaced;
    const IndexFailures failures = failures_after(j, &view);
    return std::pair(failures.counted, failures.ignored);
  };
  EXPECT_EQ(failures_after(j, nullptr).counted, 0);
  EXPECT_EQ(failures_after(j, nullptr).ignored, 0);
  EXPECT_THAT(after(failed(0, 0)), Pair(1, 0));
  EXPECT_THAT(after(failed(0, 2)), Pair(3, 0));
  EXPECT_THAT(after(failed(0, 2, 4)), Pair(2, 1)) << "an ignored failure";
  EXPECT_THAT(after(failed(0, 2, 5).annotation(kIndexIgnoredFailureCount, "4")), Pair(3, 4));
}

TEST(PerIndex, EachIndexWaitsForItself) {
  struct Row {
    int counted, ignored, elapsed;
    Duration left;
  };
  const std::vector<Row> rows = {{0, 0, 0, seconds(10)},  {0, 0, 4, seconds(6)},
                                 {0, 0, 10, seconds(0)},  {1, 0, 0, seconds(20)},
                                 {1, 1, 0, seconds(40)},  {9, 9, 0, minutes(10)},
                                 {0, 0, 9999, seconds(0)}};
  for (const Row& row : rows) {
    const Pod replaced =
        failed(0, row.counted).annotation(kIndexIgnoredFailureCount, std::to_string(row.ignored));
    EXPECT_EQ(remaining_index_delay(replaced, kStart + seconds(row.elapsed)), row.left)
        << row.counted << " + " << row.ignored << ", " << row.elapsed << " s later";
  }
}

}  // namespace per_index_test
}  // namespace muster::controllers::job
