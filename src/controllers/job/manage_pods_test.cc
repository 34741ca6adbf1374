#include "controllers/job/manage_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace manage_pods_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::kStart;
using testing::names;
using testing::pod;
using testing::PodText;
using testing::pointers;

struct Managed {
  std::size_t born;
  std::vector<std::int64_t> indexes;
  std::vector<std::string> removed;
  std::optional<Duration> wait;
};

Managed manage(const Job& j, const std::vector<Pod>& pods, const BackoffRecord& record = {},
               int now = 0) {
  const Census census = count(j, pointers(pods));
  const PodWork work = manage_pods(j, census, record, {}, kStart + seconds(now));
  Managed out{.born = work.born.size(), .removed = names(work.removed), .wait = work.wait};
  for (const Birth& birth : work.born) out.indexes.push_back(birth.index);
  return out;
}

TEST(ManagePods, HowManyComeAndGo) {
  struct Row {
    std::string_view name, spec, status;
    std::vector<Pod> pods;
    std::size_t born, removed;
  };
  const PodText running = pod("r").phase("Running");
  const std::vector<Row> rows = {
      {"the first ones", R"("parallelism":2,"completions":5)", "", {}, 2, 0},
      {"a work queue's first ones", R"("parallelism":3)", "", {}, 3, 0},
      {"the right number, pending or not",
       R"("parallelism":2,"completions":5)",
       "",
       {pod("a"), running},
       0,
       0},
      {"too few", R"("parallelism":3,"completions":5)", "", {pod("a")}, 2, 0},
      {"a failed one is replaced",
       R"("parallelism":2,"completions":5)",
       "",
       {pod("a"), pod("b").failed()},
       1,
       0},
      {"no more than completions are left for",
       R"("parallelism":4,"completions":5)",
       R"("succeeded":3)",
       {},
       2,
       0},
      {"more than completions are left for go",
       R"("parallelism":4,"completions":5)",
       R"("succeeded":4)",
       {pod("a"), pod("b"), pod("c")},
       0,
       2},
      {"too many", R"("parallelism":1,"completions":5)", "", {pod("a"), running, pod("c")}, 0, 2},
      {"parallelism 0", R"("parallelism":0,"completions":5)", "", {pod("a")}, 0, 1},
      {"all completions are there",
       R"("parallelism":2,"completions":2)",
       R"("succeeded":2)",
       {},
       0,
       0},
      {"a work queue that is empty leaves the rest alone",
       R"("parallelism":3)",
       R"("succeeded":1)",
       {pod("a")},
       0,
       0},
      {"a work queue that shrinks", R"("parallelism":1)", "", {pod("a"), pod("b")}, 0, 1},
      {"suspended",
       R"("parallelism":2,"completions":5,"suspend":true)",
       "",
       {pod("a"), running},
       0,
       2},
      {"suspended, nothing to do",
       R"("parallelism":2,"completions":5,"suspend":true)",
       "",
       {},
       0,
       0},
      {"one that goes is replaced",
       R"("parallelism":2,"completions":5)",
       "",
       {pod("a"), pod("b").deleted()},
       1,
       0},
      {"or waited for",
       R"("parallelism":2,"completions":5,"podReplacementPolicy":"Failed")",
       "",
       {pod("a"), pod("b").deleted()},
       0,
       0},
      {"more go than may run",
       R"("parallelism":1,"completions":5,"podReplacementPolicy":"Failed")",
       "",
       {pod("a").deleted(), pod("b").deleted()},
       0,
       0},
      {"a policy waits for them, too",
       R"("parallelism":2,"completions":5,"podFailurePolicy":{"rules":[]})",
       "",
       {pod("a"), pod("b").deleted()},
       0,
       0},
      {"at most so many at once", R"("parallelism":900)", "", {}, 500, 0},
  };
  for (const Row& row : rows) {
    const Managed managed = manage(job(row.spec, row.status), row.pods);
    EXPECT_EQ(managed.born, row.born) << row.name;
    EXPECT_EQ(managed.removed.size(), row.removed) << row.name;
  }
}

TEST(ManagePods, AtMostSoManyGoAtOnceButForSuspension) {
  std::vector<Pod> pods;
  for (int i = 0; i < 600; ++i) pods.push_back(pod(fmt::format("p{}", i)));
  EXPECT_EQ(manage(job(R"("parallelism":0)"), pods).removed.size(), 500u);
  EXPECT_EQ(manage(job(R"("parallelism":9,"suspend":true)"), pods).removed.size(), 600u);
}

TEST(ManagePods, WhichIndexes) {
  struct Row {
    std::string_view name, spec, status;
    std::vector<Pod> pods;
    std::vector<std::int64_t> indexes;
  };
  const std::vector<Row> rows = {
      {"the lowest", R"("parallelism":2,"completions":5)", "", {}, {0, 1}},
      {"not those that are done",
       R"("parallelism":3,"completions":5)",
       R"("completedIndexes":"0,2")",
       {},
       {1, 3, 4}},
      {"nor those that just got done",
       R"("parallelism":2,"completions":5)",
       "",
       {pod(0).succeeded(), pod(2).succeeded()},
       {1, 3}},
      {"nor those that are active",
       R"("parallelism":3,"completions":5)",
       "",
       {pod(1), pod(3)},
       {0}},
      {"a failed one again",
       R"("parallelism":2,"completions":5)",
       "",
       {pod(0).failed(), pod(1)},
       {0}},
      {"one that goes again",
       R"("parallelism":2,"completions":5)",
       "",
       {pod(0).deleted(), pod(1)},
       {0}},
      {"one that is waited for keeps its index",
       R"("parallelism":3,"completions":5,"podReplacementPolicy":"Failed")",
       "",
       {pod(0).deleted(), pod(1)},
       {2}},
      {"done and running at once",
       R"("parallelism":3,"completions":4)",
       R"("completedIndexes":"0")",
       {pod("again").index(0), pod(1)},
       {2}},
      {"no failed ones",
       R"("parallelism":3,"completions":4,"backoffLimitPerIndex":0)",
       R"("failedIndexes":"0,1")",
       {},
       {2, 3}},
  };
  for (const Row& row : rows) {
    const Job j = job(fmt::format(R"("completionMode":"Indexed",{})", row.spec), row.status);
    EXPECT_EQ(manage(j, row.pods).indexes, row.indexes) << row.name;
  }
}

TEST(ManagePods, UnusablePodsGoBeforeAnyCome) {
  const Job j = job(R"("completionMode":"Indexed","parallelism":3,"completions":3)");
  const Managed managed =
      manage(j, {pod(0), pod("twin").index(0).unassigned(), pod("none"), pod("high").index(7)});
  EXPECT_THAT(managed.removed, ::testing::UnorderedElementsAre("twin", "none", "high"));
  EXPECT_THAT(managed.indexes, IsEmpty());
}

TEST(ManagePods, WaitsAfterFailuresBeforeMoreCome) {
  const Job j = job(R"("parallelism":2,"completions":5)");
  const BackoffRecord record{.failures = 2, .last_failure = kStart};
  Managed managed = manage(j, {pod("a")}, record, 5);
  EXPECT_EQ(managed.born, 0u);
  EXPECT_EQ(managed.wait, seconds(15));
  managed = manage(j, {pod("a")}, record, 20);
  EXPECT_EQ(managed.born, 1u);
  EXPECT_FALSE(managed.wait);
  managed = manage(j, {pod("a"), pod("b")}, record, 5);
  EXPECT_FALSE(managed.wait) << "nobody is missing";
  managed = manage(job(R"("parallelism":1,"completions":5)"), {pod("a"), pod("b")}, record, 5);
  EXPECT_EQ(managed.removed.size(), 1u) << "nobody waits to go";
}

TEST(ManagePods, WithLimitsPerIndexEachIndexWaitsForItself) {
  const auto per_index = [](int parallelism) {
    return job(fmt::format(R"("completionMode":"Indexed","parallelism":{},"completions":4,)"
                           R"("backoffLimitPerIndex":6)",
                           parallelism));
  };
  const BackoffRecord ignored{.failures = 9, .last_failure = kStart};
  const std::vector<Pod> pods = {pod(0).failed(seconds(0)),
                                 pod(1).failed(seconds(4)).annotation(kIndexFailureCount, "1")};
  Managed managed = manage(per_index(4), pods, ignored, 6);
  EXPECT_THAT(managed.indexes, ElementsAre(2, 3));
  EXPECT_EQ(managed.wait, seconds(4));
  managed = manage(per_index(4), pods, ignored, 10);
  EXPECT_THAT(managed.indexes, ElementsAre(0, 2, 3));
  EXPECT_EQ(managed.wait, seconds(14));
  managed = manage(per_index(4), pods, ignored, 24);
  EXPECT_THAT(managed.indexes, ElementsAre(0, 1, 2, 3));
  managed = manage(per_index(2), pods, ignored, 6);
  EXPECT_THAT(managed.indexes, IsEmpty()) << "a higher index does not overtake";
  EXPECT_EQ(managed.wait, seconds(4));
}

TEST(ManagePods, TheNextPodOfAnIndexKnowsWhomItReplaces) {
  const Job j = job(R"("completionMode":"Indexed","parallelism":2,"completions":2,)"
                    R"("backoffLimitPerIndex":6)");
  const std::vector<Pod> pods = {pod(1).failed(seconds(0))};
  const PodWork work = manage_pods(j, count(j, pointers(pods)), {}, {}, kStart + seconds(60));
  ASSERT_EQ(work.born.size(), 2u);
  EXPECT_EQ(work.born[0].replaced, nullptr);
  EXPECT_EQ(work.born[1].replaced, &pods[0]);
}

TEST(ManagePods, NoMoreComeThanThereIsRoomFor) {
  struct Row {
    std::string_view name, spec;
    std::size_t room, born;
    bool held_back;
  };
  const std::vector<Row> rows = {
      {"all that are wanted", R"("parallelism":5)", 5, 5, false},
      {"less", R"("parallelism":5)", 4, 4, true},
      {"none", R"("parallelism":5)", 0, 0, true},
      {"as many as one pass creates", R"("parallelism":1000000)", 10'000, 500, false},
      {"the last ones", R"("parallelism":1000000)", 499, 499, true},
      {"by index", R"("completionMode":"Indexed","parallelism":9,"completions":9)", 2, 2, true},
      {"none is wanted", R"("parallelism":5,"suspend":true)", 0, 0, false},
  };
  for (const Row& row : rows) {
    const Job j = job(row.spec);
    const PodWork work = manage_pods(j, count(j, {}), {}, {.room = row.room}, kStart);
    EXPECT_EQ(work.born.size(), row.born) << row.name;
    EXPECT_EQ(work.held_back, row.held_back) << row.name;
  }
}

}  // namespace manage_pods_test
}  // namespace muster::controllers::job
