#include "controllers/jobset/progress.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace progress_test {

using ::testing::HasSubstr;
using ::testing::Not;

class ProgressTest : public ::testing::Test {
 protected:
  void plan() { progress_.planned(key_, set_, after_, *parse_time("2026-01-01T10:00:08Z")); }
  void write() {
    progress_.carried_out(key_);
    set_.status = after_;
  }

  const client::QueueKey key_{"ns", "js"};
  Metrics metrics_;
  Progress progress_{metrics_};
  api::JobSet set_ = [] {
    api::JobSet set = read(jobset({job("w", {.replicas = 2})}));
    set.meta.creation_time = parse_time("2026-01-01T10:00:00Z");
    return set;
  }();
  api::JobSetStatus after_;
};

TEST_F(ProgressTest, EndsAreCountedOnceAndOnlyWhenWritten) {
  after_.terminal_state = "Completed";
  plan();
  plan();  // the first one met a conflict
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("jobset_completed_total")));
  write();
  const char* line = "jobset_completed_total{jobset_name=\"js\",namespace=\"ns\"} 1";
  EXPECT_THAT(metrics_.text(), HasSubstr(line));
  plan();
  write();
  EXPECT_THAT(metrics_.text(), HasSubstr(line));
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_jobsets_finished_total{result=\"Completed\"} 1"));
}

TEST_F(ProgressTest, FailuresHaveTheirOwnCounter) {
  after_.terminal_state = "Failed";
  plan();
  write();
  EXPECT_THAT(metrics_.text(),
              HasSubstr("jobset_failed_total{jobset_name=\"js\",namespace=\"ns\"} 1"));
}

TEST_F(ProgressTest, WhatIsGoneIsNoLongerShownByName) {
  after_.terminal_state = "Failed";
  plan();
  write();
  progress_.gone(key_);
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("jobset_failed_total{")));
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_jobsets_finished_total{result=\"Failed\"} 1"));
}

TEST_F(ProgressTest, RestartsAreAddedUp) {
  for (int i = 1; i <= 2; ++i) {
    after_.restarts = i;
    plan();
    write();
  }
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_jobset_restarts_total 2"));
}

TEST_F(ProgressTest, TheTimeToReadyIsThatOfTheFirstStart) {
  after_.replicated_jobs = {{.name = "w"}};
  plan();
  write();
  for (const int ready : {1, 2, 1, 2}) {
    after_.replicated_jobs[0].ready = ready;
    plan();
    write();
  }
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_jobset_ready_seconds_sum 8"));
  EXPECT_THAT(metrics_.text(), HasSubstr("muster_jobset_ready_seconds_count 1"));
}

}  // namespace progress_test
}  // namespace muster::controllers::jobset
