// What happens after a Job has failed: restarts of all, restarts of one, and the end.
#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace restart_test {

using json::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kStatusWrite = "patch jobsets.jobset.x-k8s.io/status ns/js";

std::string policy(int max_restarts, std::string_view rules = "", std::string_view more = "") {
  return fmt::format(R"("failurePolicy": {{"maxRestarts": {}, {} "rules": [{}]}},)", max_restarts,
                     more, rules);
}

class Restarts : public ::testing::Test {
 protected:
  std::int64_t restarts() const { return cluster_.status().get("restarts").as_int(); }
  std::int64_t counted() const { return cluster_.status().get("restartsCountTowardsMax").as_int(); }
  Value of_single_jobs(std::string_view key) const {
    return cluster_.status().get("replicatedJobsStatus").item(0).get(key);
  }
  std::string attempt(std::string_view name) const {
    return std::string(
        cluster_.job(name).get({"metadata", "labels"}).get(label::kRestartAttempt).as_string());
  }
  void create(std::string_view text) {
    cluster_.create(text);
    cluster_.settle();
  }

  Cluster cluster_;
};

TEST_F(Restarts, ThePassThatDecidesDeletesNothingTheNextOneDoes) {
  create(jobset({job("a"), job("b")}, policy(1)));
  cluster_.succeed("js-a-0");
  cluster_.fail("js-b-0");
  EXPECT_THAT(cluster_.pass(), ElementsAre(kStatusWrite));
  EXPECT_EQ(restarts(), 1);
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobs.batch ns/js-a-0",
                                           "delete jobs.batch ns/js-b-0", kStatusWrite));
  EXPECT_THAT(cluster_.pass(),
              ElementsAre("create jobs.batch ns/js-a-0", "create jobs.batch ns/js-b-0"))
      << "those that had succeeded run again too";
  EXPECT_EQ(attempt("js-a-0"), "1");
}

TEST_F(Restarts, AreToldAsActionAndAsCondition) {
  create(jobset({job("w")}, policy(1, R"({"name": "Rule1", "action": "RestartJobSet"})")));
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "True FailurePolicy_Rule1");
  EXPECT_THAT(cluster_.events, ElementsAre(StartsWith("Warning RestartJobSetFailurePolicyAction: "),
                                           StartsWith("Warning FailurePolicy_Rule1: ")));
  cluster_.run("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "False JobsReady");
  EXPECT_EQ(cluster_.events.back(), "Normal JobsReady: all jobs are ready");
}

TEST_F(Restarts, ASetMaySucceedAfterOne) {
  create(jobset({job("w")}, policy(1)));
  cluster_.fail("js-w-0");
  cluster_.settle();
  cluster_.succeed("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Completed"), "True AllJobsCompleted");
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "False JobSetCompleted");
  EXPECT_EQ(restarts(), 1);
}

TEST_F(Restarts, WithoutAnyLeftTheFirstFailureIsTheEnd) {
  create(jobset({job("w")}, policy(0)));
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True ReachedMaxRestarts");
  EXPECT_EQ(restarts(), 0);
}

TEST_F(Restarts, AreUsedUpBeforeTheEnd) {
  create(jobset({job("w")}, policy(1)));
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "");
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True ReachedMaxRestarts");
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "False JobSetFailed");
  EXPECT_EQ(restarts(), 1);
  EXPECT_EQ(counted(), 1);
}

TEST_F(Restarts, OfASetCountTheSameWithAndWithoutTheGateOfSingleRestarts) {
  for (const std::string_view gates : {"RestartJob=false", "RestartJob=true"}) {
    cluster_ = {};
    cluster_.restart_controller_with_gates(gates);
    create(jobset({job("w")}, policy(1)));
    cluster_.fail("js-w-0");
    cluster_.settle();
    EXPECT_EQ(restarts(), 1);
    EXPECT_EQ(counted(), 1);
    EXPECT_TRUE(of_single_jobs("jobRestarts").is_null());
  }
}

TEST_F(Restarts, ThatIgnoreTheLimitGoOnForEver) {
  for (const std::string_view gates : {"RestartJob=false", "RestartJob=true"}) {
    cluster_ = {};
    cluster_.restart_controller_with_gates(gates);
    create(jobset({job("w")},
                  policy(1, R"({"name": "r", "action": "RestartJobSetAndIgnoreMaxRestarts"})")));
    for (int i = 1; i <= 3; ++i) {
      cluster_.fail("js-w-0");
      cluster_.settle();
      EXPECT_EQ(restarts(), i);
      EXPECT_EQ(counted(), 0);
    }
  }
}

// Rules by reason and message: fail at once, or restart by default.
struct RuleRow {
  std::string name, rule, reason, message;
  bool fails;
};
class RuleStories : public ::testing::TestWithParam<RuleRow> {};
TEST_P(RuleStories, DecideWhetherTheSetFailsOrRestarts) {
  Cluster cluster;
  cluster.create(jobset(
      {job("w")},
      policy(1, fmt::format(R"({{"name": "r", "action": "FailJobSet", {}}})", GetParam().rule))));
  cluster.settle();
  cluster.fail("js-w-0", GetParam().reason, GetParam().message);
  cluster.settle();
  EXPECT_EQ(cluster.condition("Failed"),
            GetParam().fails ? "True FailJobSetFailurePolicyAction" : "");
  EXPECT_EQ(cluster.status().get("restarts").as_int(), GetParam().fails ? 0 : 1);
}
INSTANTIATE_TEST_SUITE_P(
    All, RuleStories,
    ::testing::Values(RuleRow{"reasonMatches", R"("onJobFailureReasons": ["PodFailurePolicy"])",
                              "PodFailurePolicy", "m", true},
                      RuleRow{"reasonDoesNot", R"("onJobFailureReasons": ["PodFailurePolicy"])",
                              "BackoffLimitExceeded", "m", false},
                      RuleRow{"messageDoesNot", R"("onJobFailureMessagePatterns": ["exit code 5"])",
                              "PodFailurePolicy", "exit code 6", false},
                      RuleRow{"reasonMatchesMessageDoesNot",
                              R"("onJobFailureReasons": ["PodFailurePolicy"],
                   "onJobFailureMessagePatterns": ["exit code 5"])",
                              "PodFailurePolicy", "exit code 6", false},
                      RuleRow{"bothMatch",
                              R"("onJobFailureReasons": ["PodFailurePolicy"],
                   "onJobFailureMessagePatterns": ["exit code \\d"])",
                              "PodFailurePolicy", "exit code 6", true},
                      RuleRow{"aPartOfTheMessageMatches",
                              R"("onJobFailureMessagePatterns": ["code"])", "PodFailurePolicy",
                              "exit code 6", true}),
    [](const auto& row) { return row.param.name; });

TEST_F(Restarts, TheFirstRuleThatMatchesCountsAlsoForAnotherReplicatedJob) {
  const std::string rules = R"(
      {"name": "one", "action": "RestartJobSetAndIgnoreMaxRestarts", "targetReplicatedJobs": ["a"]},
      {"name": "two", "action": "FailJobSet", "targetReplicatedJobs": ["a"]},
      {"name": "three", "action": "FailJobSet", "targetReplicatedJobs": ["b"]})";
  create(jobset({job("a"), job("b")}, policy(0, rules)));
  cluster_.fail("js-a-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "True FailurePolicy_one");
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True FailJobSetFailurePolicyAction");
  EXPECT_EQ(restarts(), 1);
}

TEST_F(Restarts, ATargetThatIsNotTheFailedOneMatchesNothing) {
  create(
      jobset({job("a"), job("b")},
             policy(1, R"({"name": "r", "action": "FailJobSet", "targetReplicatedJobs": ["a"]})")));
  cluster_.fail("js-b-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "True DefaultFailurePolicy");
}

TEST_F(Restarts, EachJobIsMadeAgainAsSoonAsItsNameIsFree) {
  create(jobset({job("w", {.replicas = 4})}, policy(1)));
  cluster_.deletions_linger = true;
  cluster_.fail("js-w-0");
  cluster_.settle();
  for (const char* name : {"js-w-0", "js-w-1", "js-w-2"}) cluster_.gone(name);
  EXPECT_THAT(cluster_.pass(),
              ElementsAre("create jobs.batch ns/js-w-0", "create jobs.batch ns/js-w-1",
                          "create jobs.batch ns/js-w-2"))
      << "not js-w-3, and it is not deleted twice";
  cluster_.gone("js-w-3");
  EXPECT_THAT(cluster_.pass(), ElementsAre("create jobs.batch ns/js-w-3"));
}

TEST_F(Restarts, BlockingNoneIsMadeAgainBeforeTheLastIsGone) {
  create(jobset({job("w", {.replicas = 4})},
                policy(1, "", R"("restartStrategy": "BlockingRecreate",)")));
  cluster_.deletions_linger = true;
  cluster_.fail("js-w-0");
  cluster_.settle();
  for (const char* name : {"js-w-0", "js-w-1", "js-w-2"}) cluster_.gone(name);
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  cluster_.gone("js-w-3");
  cluster_.settle();
  EXPECT_THAT(cluster_.job_names(), ElementsAre("js-w-0", "js-w-1", "js-w-2", "js-w-3"));
}

TEST_F(Restarts, AFailureWhileOldJobsAreStillBeingDeletedCountsToo) {
  create(jobset({job("w", {.replicas = 2})}, policy(2)));
  cluster_.deletions_linger = true;
  cluster_.fail("js-w-0");
  cluster_.settle();
  cluster_.gone("js-w-0");
  cluster_.settle();
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(restarts(), 2);
  cluster_.gone("js-w-0");
  cluster_.gone("js-w-1");
  cluster_.settle();
  EXPECT_EQ(attempt("js-w-0"), "2");
  EXPECT_EQ(attempt("js-w-1"), "2");
}

// Of single Jobs.

class SingleRestarts : public Restarts {
 protected:
  void create_with(std::string_view action, int max_restarts = 1) {
    cluster_.restart_controller_with_gates("RestartJob=true");
    create(jobset({job("w", {.replicas = 2})},
                  policy(max_restarts, fmt::format(R"({{"name": "r", "action": "{}"}})", action))));
    cluster_.run("js-w-0");
    cluster_.run("js-w-1");
    cluster_.settle();
  }
};

TEST_F(SingleRestarts, TheOthersRunOn) {
  create_with("RestartJob");
  cluster_.fail("js-w-1");
  EXPECT_THAT(cluster_.pass(), ElementsAre(kStatusWrite));
  EXPECT_THAT(cluster_.pass(), ElementsAre("delete jobs.batch ns/js-w-1", kStatusWrite));
  EXPECT_THAT(cluster_.pass(), ElementsAre("create jobs.batch ns/js-w-1"));
  EXPECT_EQ(restarts(), 0);
  EXPECT_THAT(of_single_jobs("jobRestarts"), json::IsJson("[0, 1]"));
  EXPECT_THAT(of_single_jobs("jobRestartsCountTowardsMax"), json::IsJson("[0, 1]"));
  EXPECT_EQ(cluster_.condition("RestartingJobSet"), "");
  EXPECT_THAT(cluster_.events, ElementsAre(StartsWith("Warning RestartJobFailurePolicyAction: ")));
  EXPECT_EQ(
      cluster_.job("js-w-1").get({"metadata", "labels"}).get(label::kJobRestartAttempt).as_string(),
      "1");
}

TEST_F(SingleRestarts, AreLimitedToo) {
  create_with("RestartJob");
  cluster_.fail("js-w-1");
  cluster_.settle();
  cluster_.fail("js-w-0");
  cluster_.settle();
  EXPECT_EQ(cluster_.condition("Failed"), "True ReachedMaxRestarts");
}

TEST_F(SingleRestarts, ThatIgnoreTheLimitAreNotCounted) {
  create_with("RestartJobAndIgnoreMaxRestarts", 0);
  for (int i = 0; i < 3; ++i) {
    cluster_.fail("js-w-1");
    cluster_.settle();
  }
  EXPECT_THAT(of_single_jobs("jobRestarts"), json::IsJson("[0, 3]"));
  EXPECT_TRUE(of_single_jobs("jobRestartsCountTowardsMax").is_null());
  EXPECT_EQ(cluster_.condition("Failed"), "");
}

TEST_F(SingleRestarts, OneFailedJobIsHandledPerPass) {
  create_with("RestartJobAndIgnoreMaxRestarts");
  cluster_.fail("js-w-0");
  cluster_.fail("js-w-1");
  cluster_.pass();
  EXPECT_THAT(of_single_jobs("jobRestarts"), json::IsJson("[1, 0]"));
  cluster_.settle();
  EXPECT_THAT(of_single_jobs("jobRestarts"), json::IsJson("[1, 1]"));
  EXPECT_THAT(cluster_.job_names(), UnorderedElementsAre("js-w-0", "js-w-1"));
}

TEST_F(SingleRestarts, WithTheGateSwitchedOffLaterNothingGoesOn) {
  create_with("RestartJob");
  cluster_.restart_controller_with_gates("RestartJob=false");
  cluster_.fail("js-w-1");
  EXPECT_THAT(cluster_.pass(), IsEmpty());
  EXPECT_NE(cluster_.last.error, "");
}

}  // namespace restart_test
}  // namespace muster::controllers::jobset
