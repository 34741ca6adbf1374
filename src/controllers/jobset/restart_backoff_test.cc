// How long restarts wait: the rule as a table, and what a JobSet shows of it.
#include "controllers/jobset/restart_backoff.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace restart_backoff_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Time kStart = *parse_time("2026-11-18T05:00:00Z");

// Restarts so many seconds after kStart, and how long each of them waits.
std::vector<int> waits(const std::vector<int>& at) {
  std::vector<int> out;
  std::optional<Restart> latest;
  for (const int second : at) {
    latest = restart_after(latest, kStart + seconds(second));
    out.push_back(static_cast<int>(latest->wait.count()));
  }
  return out;
}

TEST(RestartBackoff, GrowsFromTheThirdRestartWithinAMinute) {
  const struct {
    const char* what;
    std::vector<int> at, waits;
  } kRows[] = {
      {"the third waits", {0, 1, 2}, {0, 0, 1}},
      {"just within a minute", {0, 30, 60}, {0, 0, 1}},
      {"not within a minute", {0, 30, 61}, {0, 0, 0}},
      {"any three count", {0, 50, 70, 80}, {0, 0, 0, 1}},
      {"now and then is not too often", {0, 40, 80, 120, 160}, {0, 0, 0, 0, 0}},
      {"twice as long each time, a minute at most",
       {0, 0, 0, 1, 3, 7, 15, 31, 63, 123, 183},
       {0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60}},
      {"it does not forget while waits grow longer", {0, 1, 2, 100, 300}, {0, 0, 1, 2, 4}},
      {"until the set has run for ten minutes", {0, 1, 2, 603, 604, 605}, {0, 0, 1, 0, 0, 1}},
      {"which the wait is no part of", {0, 1, 2, 602, 1203}, {0, 0, 1, 2, 4}},
      {"a clock that was set back", {1000, 1001, 1002, 0}, {0, 0, 1, 2}},
  };
  for (const auto& row : kRows) EXPECT_EQ(waits(row.at), row.waits) << row.what;
}

TEST(RestartBackoff, TheWaitEnds) {
  const Restart restart{.at = kStart, .before = {}, .wait = seconds(4)};
  EXPECT_EQ(remaining_wait(restart, kStart), seconds(4));
  EXPECT_EQ(remaining_wait(restart, kStart + seconds(3)), seconds(1));
  EXPECT_EQ(remaining_wait(restart, kStart + seconds(9)), seconds(0));
  EXPECT_EQ(remaining_wait(restart, kStart - seconds(9)), seconds(0)) << "the clock was set back";
}

TEST(RestartBackoff, IsReadAsItWasWritten) {
  const Restart kRestarts[] = {
      {.at = kStart + Duration(123'456), .before = {}},
      {.at = kStart, .before = kStart - Duration(1), .wait = seconds(32)},
  };
  for (const Restart& restart : kRestarts) {
    api::Condition condition = condition_of(restart);
    condition.type = kRestartedCondition;
    EXPECT_EQ(latest_restart({condition}), restart) << condition.message;
  }
}

TEST(RestartBackoff, WhatIsNotOursSaysNothing) {
  EXPECT_EQ(latest_restart({}), std::nullopt);
  for (const char* message :
       {"", "at noon", "at 2026-11-18T05:00:00Z", "at x, waits 1 s",
        "at 2026-11-18T05:00:00Z, waits -1 s", "at 2026-11-18T05:00:00Z, waits long"}) {
    api::Condition condition;
    condition.type = kRestartedCondition;
    condition.message = message;
    EXPECT_EQ(latest_restart({condition}), std::nullopt) << message;
  }
  api::Condition huge;
  huge.type = kRestartedCondition;
  huge.message = "at 2026-11-18T05:00:00Z, waits 9223372036854775807 s";
  EXPECT_EQ(latest_restart({huge})->wait, seconds(60));
}

class BackoffOfASet : public ::testing::Test {
 protected:
  void create(std::string_view annotations = "") {
    cluster_.create(fmt::format(
        R"({{"metadata": {{"name": "js", "annotations": {{{}}}}}, "spec": {{
             "failurePolicy": {{"maxRestarts": 100}}, "replicatedJobs": [{}]}}}})",
        annotations, job("w")));
    cluster_.settle();
  }
  // The Job fails, and all that follows at once is done.
  void fail() {
    cluster_.fail("js-w-0");
    cluster_.settle();
  }
  bool runs() const { return !cluster_.job_names().empty(); }

  Cluster cluster_;
};

TEST_F(BackoffOfASet, TheThirdRestartWaitsAndSaysSo) {
  create();
  fail();
  fail();
  ASSERT_TRUE(runs());
  EXPECT_EQ(cluster_.condition("muster.dev/Restarted"), "True AtOnce");
  fail();
  EXPECT_FALSE(runs()) << "what failed is gone at once";
  EXPECT_EQ(cluster_.condition("muster.dev/Restarted"), "True BackOff");
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "True RestartBackoff");
  EXPECT_THAT(cluster_.message("muster.dev/Waiting"), HasSubstr("restart 3 waits 1 s, until "));
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.look_again, seconds(1));
  cluster_.wait(seconds(1));
  cluster_.settle();
  EXPECT_TRUE(runs());
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
  fail();
  EXPECT_THAT(cluster_.message("muster.dev/Waiting"), HasSubstr("restart 4 waits 2 s, until "));
}

TEST_F(BackoffOfASet, AnotherControllerGoesOnWaiting) {
  create();
  for (int i = 0; i < 3; ++i) fail();
  cluster_.restart_controller_with_gates("");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_EQ(cluster_.last.look_again, seconds(1));
}

TEST_F(BackoffOfASet, NothingOfItIsLeftAtTheEnd) {
  create();
  fail();
  cluster_.succeed("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "True AllJobsCompleted");
  EXPECT_EQ(cluster_.condition("muster.dev/Restarted"), "");
}

TEST_F(BackoffOfASet, AnAnnotationSwitchesItOff) {
  create(R"("muster.dev/restart-backoff": "false")");
  for (int i = 0; i < 9; ++i) fail();
  EXPECT_TRUE(runs());
  EXPECT_EQ(cluster_.condition("muster.dev/Restarted"), "");
}

TEST_F(BackoffOfASet, WhereTheGateIsOffAnAnnotationSwitchesItOn) {
  cluster_.restart_controller_with_gates("RestartBackoff=false");
  create();
  for (int i = 0; i < 9; ++i) fail();
  EXPECT_TRUE(runs());
  cluster_.edit(R"({"metadata": {"annotations": {"muster.dev/restart-backoff": "true"}}})");
  for (int i = 0; i < 3; ++i) fail();
  EXPECT_FALSE(runs());
}

TEST_F(BackoffOfASet, ASuspendedSetHasItsJobsAtOnce) {
  create();
  for (int i = 0; i < 3; ++i) fail();
  ASSERT_FALSE(runs());
  cluster_.edit(R"({"spec": {"suspend": true}})");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-w-0"));
  EXPECT_EQ(cluster_.condition("muster.dev/Waiting"), "");
}

TEST_F(BackoffOfASet, RestartsOfSingleJobsWaitToo) {
  cluster_.restart_controller_with_gates("RestartJob=true");
  cluster_.create(jobset({job("w", {.replicas = 2})}, R"("failurePolicy": {"maxRestarts": 100,
      "rules": [{"name": "r", "action": "RestartJob"}]},)"));
  cluster_.settle();
  for (int i = 0; i < 3; ++i) fail();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-w-1")) << "the other one goes on";
  EXPECT_THAT(cluster_.message("muster.dev/Waiting"), HasSubstr("restart 3 waits 1 s"));
}

}  // namespace restart_backoff_test
}  // namespace muster::controllers::jobset
