#include "controllers/jobset/tally.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace tally_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TallyTest : public ::testing::Test {
 protected:
  const Tally& count(const std::vector<Child>& children, Gates gates = {}) {
    children_ = children;
    const auto buckets = sort_into_buckets(set_, pointers(children_), gates);
    tallies_ = tally(set_, *buckets, gates);
    return *find_tally(tallies_, "w");
  }
  static std::string text(const Tally& tally) {
    const auto& status = tally.status;
    return fmt::format("ready {} succeeded {} failed {} active {} suspended {}", status.ready,
                       status.succeeded, status.failed, status.active, status.suspended);
  }
  // A Job with two pods.
  static Child pods(int ready, int succeeded, int active, ChildText which = {}) {
    Child out = child(which);
    out.parallelism = 2;
    out.completions = 2;
    out.ready = ready;
    out.succeeded = succeeded;
    out.active = active;
    return out;
  }

  api::JobSet set_ = read(jobset({job("w", {.replicas = 2}), job("a")}));
  std::vector<Child> children_;
  Tallies tallies_;
};

TEST_F(TallyTest, CountsJobsNotPods) {
  EXPECT_EQ(text(count({})), "ready 0 succeeded 0 failed 0 active 0 suspended 0");
  EXPECT_EQ(text(count({pods(1, 0, 2)})), "ready 0 succeeded 0 failed 0 active 1 suspended 0");
  EXPECT_EQ(text(count({pods(2, 0, 2)})), "ready 1 succeeded 0 failed 0 active 1 suspended 0");
  EXPECT_EQ(text(count({pods(2, 0, 2), pods(0, 0, 1)})),
            "ready 1 succeeded 0 failed 0 active 2 suspended 0");
  EXPECT_EQ(text(count({complete_child({}), complete_child({.name = "js-w-1"})})),
            "ready 0 succeeded 2 failed 0 active 0 suspended 0");
  EXPECT_EQ(text(count({failed_child({}, "2026-01-01T00:00:00Z")})),
            "ready 0 succeeded 0 failed 1 active 0 suspended 0");
}

TEST_F(TallyTest, PodsThatSucceededCountAsReady) {
  EXPECT_EQ(count({pods(1, 1, 1)}).status.ready, 1);
  // Seen by the Job and not counted yet: readiness must not flicker meanwhile.
  const json::Tree job(R"({"metadata": {"labels": {"jobset.sigs.k8s.io/replicatedjob-name": "w",
      "jobset.sigs.k8s.io/restart-attempt": "0"}}, "spec": {"parallelism": 2, "completions": 2},
      "status": {"ready": 1, "uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["b"]}}})");
  EXPECT_EQ(count({read_child(job)}).status.ready, 1);
  EXPECT_EQ(count({pods(1, std::numeric_limits<int>::max(), 1)}).status.ready, 1);
}

TEST_F(TallyTest, AsManyPodsAreExpectedAsRunAtOnce) {
  Child wide = pods(1, 0, 1);
  wide.completions = 1;
  EXPECT_EQ(count({wide}).status.ready, 1);
  wide.completions.reset();
  EXPECT_EQ(count({wide}).status.ready, 0);
  wide.parallelism = 0;
  wide.ready = 0;
  EXPECT_EQ(count({wide}).status.ready, 1) << "without pods there is nothing to wait for";
}

TEST_F(TallyTest, SuspendedJobsAreCountedApart) {
  Child still = pods(0, 0, 0);
  still.suspend = true;
  EXPECT_EQ(text(count({still})), "ready 0 succeeded 0 failed 0 active 0 suspended 1");
}

TEST_F(TallyTest, OtherAttemptsAndUnknownEntriesCountNowhere) {
  set_.status.restarts = 1;
  Child nameless = child({.attempt = 1});
  nameless.replicated_job.reset();
  const Tally& tally = count({pods(2, 0, 2, {.attempt = 0}),
                              pods(2, 0, 2, {.replicated_job = "x", .attempt = 1}), nameless});
  EXPECT_EQ(text(tally), "ready 0 succeeded 0 failed 0 active 0 suspended 0");
  EXPECT_EQ(tally.present, 0);
}

TEST_F(TallyTest, IsStoredByNameDescending) {
  count({});
  std::vector<std::string> names;
  for (const auto& status : stored_statuses(tallies_)) names.push_back(status.name);
  EXPECT_THAT(names, ElementsAre("w", "a"));
}

TEST_F(TallyTest, RestartsOfSingleJobsAreCarriedOnOnlyWithTheirGate) {
  set_.status.replicated_jobs = {
      {.name = "w", .job_restarts = {0, 2}, .job_restarts_count_towards_max = {0, 1}}};
  EXPECT_THAT(count({}).status.job_restarts, IsEmpty());
  const Tally& tally = count({}, {.restart_job = true});
  EXPECT_THAT(tally.status.job_restarts, ElementsAre(0, 2));
  EXPECT_THAT(tally.status.job_restarts_count_towards_max, ElementsAre(0, 1));
}

TEST_F(TallyTest, WhatHasEndedHasStarted) {
  EXPECT_FALSE(count({pods(2, 0, 2)}).is_started());
  EXPECT_TRUE(count({pods(2, 0, 2), complete_child({.name = "js-w-1"})}).is_started());
  EXPECT_TRUE(count({pods(2, 0, 2), failed_child({.name = "js-w-1"}, "2026-01-01T00:00:00Z")})
                  .is_started());
}

}  // namespace tally_test
}  // namespace muster::controllers::jobset
