#include "controllers/jobset/failure_policy.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace failure_policy_test {

using api::FailureAction;
using api::FailurePolicyRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kFirst = "2026-01-01T10:00:00Z";
constexpr std::string_view kSecond = "2026-01-01T10:00:01Z";

TEST(FirstFailed, IsTheEarliestOfThoseThatFailed) {
  const std::vector<Child> none = {child(), complete_child({})};
  EXPECT_EQ(first_failed(pointers({})), nullptr);
  EXPECT_EQ(first_failed(pointers(none)), nullptr);
  const std::vector<Child> jobs = {child({.name = "runs"}), failed_child({.name = "late"}, kSecond),
                                   failed_child({.name = "early"}, kFirst),
                                   failed_child({.name = "early-too"}, kFirst)};
  EXPECT_EQ(first_failed(pointers(jobs))->name, "early");
}

TEST(Rules, ApplyByReasonMessageAndTarget) {
  const Child failed = failed_child({}, kFirst, "PodFailurePolicy",
                                    "Container main failed with exit code 3, node n1 is gone");
  const std::vector<std::string> all, reason = {"DeadlineExceeded", "PodFailurePolicy"},
                                      other_reason = {"DeadlineExceeded"}, target = {"x", "w"},
                                      other_target = {"x"}, pattern = {"none", "exit code [34],"},
                                      other_pattern = {"^exit code"};
  const struct {
    std::string_view name;
    std::vector<std::string> reasons, patterns, targets;
    bool applies;
  } rows[] = {
      {"all, all", all, all, all, true},
      {"all reasons, target matches", all, all, target, true},
      {"all reasons, target does not match", all, all, other_target, false},
      {"reason matches, all targets", reason, all, all, true},
      {"reason and target match", reason, all, target, true},
      {"reason matches, target does not", reason, all, other_target, false},
      {"reason does not match, all targets", other_reason, all, all, false},
      {"reason does not match, target does", other_reason, all, target, false},
      {"neither reason nor target", other_reason, all, other_target, false},
      {"pattern matches", all, pattern, all, true},
      {"pattern does not match", all, other_pattern, all, false},
      {"reason and pattern match", reason, pattern, all, true},
      {"reason matches, pattern does not", reason, other_pattern, all, false},
      {"a part of the message is enough", all, {"exit"}, all, true},
      {"what is no pattern matches nothing", all, {"(["}, all, false},
      {"what is no pattern does not hide the next", all, {"([", "gone$"}, all, true},
  };
  for (const auto& row : rows) {
    const Children meant = those_meant({.on_job_failure_reasons = row.reasons,
                                        .on_job_failure_message_patterns = row.patterns,
                                        .target_replicated_jobs = row.targets},
                                       {&failed});
    EXPECT_EQ(!meant.empty(), row.applies) << row.name;
  }
}

TEST(Rules, DoNotApplyToJobsThatDoNotSayWhatTheyAre) {
  Child stray = failed_child({}, kFirst);
  stray.replicated_job.reset();
  EXPECT_THAT(those_meant({}, {&stray}), IsEmpty());
}

TEST(Rules, OneRuleIsForAllOfThem) {
  const Child gone = failed_child({.name = "a-0"}, kFirst, "X", "node n1 is gone");
  const Child killed = failed_child({.name = "a-1"}, kFirst, "X", "killed");
  const Child also_gone = failed_child({.name = "a-2"}, kFirst, "X", "node n2 is gone");
  EXPECT_THAT(those_meant({.on_job_failure_message_patterns = {"n[0-9] is gone"}},
                          {&gone, &killed, &also_gone}),
              ElementsAre(&gone, &also_gone));
}

TEST(Verdict, IsOfTheFirstRuleThatMatchesAnyAndBlamesItsEarliest) {
  const Child a_late = failed_child({.name = "a-0", .replicated_job = "a"}, kSecond);
  const Child b_early = failed_child({.name = "b-0", .replicated_job = "b"}, kFirst);
  const Child a_early = failed_child({.name = "a-1", .replicated_job = "a"}, kFirst);
  const FailurePolicyRule on_a{
      .name = "onA", .action = FailureAction::kFailJobSet, .target_replicated_jobs = {"a"}};
  const FailurePolicyRule on_b{.name = "onB",
                               .action = FailureAction::kRestartJobSetAndIgnoreMaxRestarts,
                               .target_replicated_jobs = {"b"}};
  const FailurePolicyRule on_c{
      .name = "onC", .action = FailureAction::kFailJobSet, .target_replicated_jobs = {"c"}};
  const struct {
    std::vector<FailurePolicyRule> rules;
    Children failed;
    std::string rule, job;
    FailureAction action;
  } rows[] = {
      {{}, {&a_late}, "", "a-0", FailureAction::kRestartJobSet},
      {{}, {&a_late, &b_early}, "", "b-0", FailureAction::kRestartJobSet},
      {{on_a}, {&a_late}, "onA", "a-0", FailureAction::kFailJobSet},
      {{on_a}, {&b_early}, "", "b-0", FailureAction::kRestartJobSet},
      {{on_a}, {&a_late, &b_early}, "onA", "a-0", FailureAction::kFailJobSet},
      {{on_a, on_b}, {&a_late, &b_early}, "onA", "a-0", FailureAction::kFailJobSet},
      {{on_b, on_a},
       {&a_late, &b_early},
       "onB",
       "b-0",
       FailureAction::kRestartJobSetAndIgnoreMaxRestarts},
      {{on_c, on_a, on_b}, {&a_late, &a_early}, "onA", "a-1", FailureAction::kFailJobSet},
      {{on_c}, {&a_late, &b_early}, "", "b-0", FailureAction::kRestartJobSet},
  };
  for (const auto& row : rows) {
    const api::FailurePolicy policy{.rules = row.rules};
    const FailureVerdict verdict = judge_failure(policy, row.failed);
    EXPECT_EQ(verdict.rule == nullptr ? "" : verdict.rule->name, row.rule);
    EXPECT_EQ(verdict.job->name, row.job);
    EXPECT_EQ(verdict.action, row.action);
  }
}

class FailurePolicyTest : public ::testing::Test {
 protected:
  // One Job has failed; the only rule has this action.
  api::JobSetStatus apply(FailureAction action, Gates gates = {}) {
    set_.failure_policy->rules = {{.name = "rule", .action = action}};
    return apply(gates);
  }
  api::JobSetStatus apply(Gates gates = {}) {
    const Child failed =
        failed_child({.name = "js-w-1", .index = 1}, kFirst, "BackoffLimitExceeded");
    StatusDraft draft(set_, *parse_time(kSecond));
    const Status done = apply_failure_policy(set_, {&failed}, gates, draft);
    error_ = done ? "" : done.error().message;
    events_.clear();
    for (const Event& event : draft.take_events()) events_.push_back(text_of(event));
    return draft.status();
  }
  static std::string condition(const api::JobSetStatus& status, std::string_view type) {
    const api::Condition* const found = api::find_condition(status.conditions, type);
    return found == nullptr
               ? ""
               : fmt::format("{} {}: {}", found->status, found->reason, found->message);
  }

  static constexpr Gates kRestartJob{.restart_job = true};
  api::JobSet set_ = [] {
    api::JobSet set = read(jobset({job("w", {.replicas = 2})}));
    set.failure_policy = {.max_restarts = 1};
    set.status.replicated_jobs = {{.name = "w", .failed = 1}};
    return set;
  }();
  std::string error_;
  std::vector<std::string> events_;
};

TEST_F(FailurePolicyTest, WithoutOneAFailedJobFailsTheSet) {
  set_.failure_policy.reset();
  const api::JobSetStatus status = apply();
  EXPECT_EQ(condition(status, "Failed"),
            "True FailedJobs: jobset failed due to one or more job failures (first failed job: "
            "js-w-1)");
  EXPECT_EQ(status.terminal_state, "Failed");
  EXPECT_THAT(events_, ElementsAre("Warning FailedJobs: jobset failed due to one or more job "
                                   "failures (first failed job: js-w-1)"));
}

TEST_F(FailurePolicyTest, FailJobSet) {
  const api::JobSetStatus status = apply(FailureAction::kFailJobSet);
  EXPECT_EQ(condition(status, "Failed"),
            "True FailJobSetFailurePolicyAction: applying FailJobSet failure policy action (first "
            "failed job: js-w-1)");
  EXPECT_EQ(status.restarts, 0);
}

TEST_F(FailurePolicyTest, RestartJobSetCountsTwice) {
  const api::JobSetStatus status = apply(FailureAction::kRestartJobSet);
  EXPECT_EQ(status.restarts, 1);
  EXPECT_EQ(status.restarts_count_towards_max, 1);
  EXPECT_EQ(status.terminal_state, "");
  EXPECT_EQ(condition(status, "RestartingJobSet"),
            "True FailurePolicy_rule: applying RestartJobSet failure policy action (first failed "
            "job: js-w-1)");
  EXPECT_THAT(events_,
              ElementsAre("Warning RestartJobSetFailurePolicyAction: applying RestartJobSet "
                          "failure policy action (first failed job: js-w-1)",
                          "Warning FailurePolicy_rule: applying RestartJobSet failure policy "
                          "action (first failed job: js-w-1)"));
}

TEST_F(FailurePolicyTest, WithoutARuleTheSetRestartsByDefault) {
  const api::JobSetStatus status = apply();
  EXPECT_EQ(status.restarts, 1);
  EXPECT_THAT(condition(status, "RestartingJobSet"), HasSubstr("True DefaultFailurePolicy: "));
}

TEST_F(FailurePolicyTest, RestartJobSetAtTheLimitFails) {
  set_.status.restarts = 5;  // four of them did not count
  set_.status.restarts_count_towards_max = 1;
  set_.status.conditions = {{.type = "RestartingJobSet",
                             .is_true = true,
                             .status = "True",
                             .reason = "r",
                             .last_transition_time = Time{}}};
  const api::JobSetStatus status = apply(FailureAction::kRestartJobSet);
  EXPECT_EQ(status.restarts, 5);
  EXPECT_EQ(condition(status, "Failed"),
            "True ReachedMaxRestarts: jobset failed due to reaching max number of restarts (first "
            "failed job: js-w-1)");
  EXPECT_EQ(condition(status, "RestartingJobSet"), "False JobSetFailed: jobset failed");
}

TEST_F(FailurePolicyTest, RestartJobSetAndIgnoreMaxRestartsIsNotCounted) {
  set_.status.restarts_count_towards_max = 1;
  const api::JobSetStatus status = apply(FailureAction::kRestartJobSetAndIgnoreMaxRestarts);
  EXPECT_EQ(status.restarts, 1);
  EXPECT_EQ(status.restarts_count_towards_max, 1);
  EXPECT_THAT(events_[0],
              HasSubstr("Warning RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction: "));
}

TEST_F(FailurePolicyTest, RestartJobCountsThatJobOnly) {
  const api::JobSetStatus status = apply(FailureAction::kRestartJob, kRestartJob);
  EXPECT_EQ(status.restarts, 0);
  EXPECT_THAT(status.replicated_jobs[0].job_restarts, ElementsAre(0, 1));
  EXPECT_THAT(status.replicated_jobs[0].job_restarts_count_towards_max, ElementsAre(0, 1));
  EXPECT_EQ(condition(status, "RestartingJobSet"), "");
  EXPECT_THAT(events_, ElementsAre("Warning RestartJobFailurePolicyAction: applying RestartJob "
                                   "failure policy action (first failed job: js-w-1)"));
}

TEST_F(FailurePolicyTest, BothKindsOfRestartShareOneLimit) {
  set_.status.replicated_jobs[0].job_restarts_count_towards_max = {1, 0};
  EXPECT_THAT(condition(apply(FailureAction::kRestartJob, kRestartJob), "Failed"),
              HasSubstr("ReachedMaxRestarts"));
  EXPECT_THAT(condition(apply(FailureAction::kRestartJobSet, kRestartJob), "Failed"),
              HasSubstr("ReachedMaxRestarts"));
  EXPECT_EQ(apply(FailureAction::kRestartJobSet).restarts, 1) << "without the gate it does not";
  set_.status.replicated_jobs[0].job_restarts_count_towards_max = {};
  set_.status.restarts_count_towards_max = 1;
  EXPECT_THAT(condition(apply(FailureAction::kRestartJob, kRestartJob), "Failed"),
              HasSubstr("ReachedMaxRestarts"));
}

TEST_F(FailurePolicyTest, RestartJobAndIgnoreMaxRestartsIsNotCounted) {
  set_.status.restarts_count_towards_max = 1;
  const api::JobSetStatus status =
      apply(FailureAction::kRestartJobAndIgnoreMaxRestarts, kRestartJob);
  EXPECT_THAT(status.replicated_jobs[0].job_restarts, ElementsAre(0, 1));
  EXPECT_THAT(status.replicated_jobs[0].job_restarts_count_towards_max, IsEmpty());
  EXPECT_THAT(events_[0], HasSubstr("RestartJobAndIgnoreMaxRestartsFailurePolicyAction"));
}

TEST_F(FailurePolicyTest, RestartJobWithoutItsGateIsAnError) {
  const api::JobSetStatus status = apply(FailureAction::kRestartJob);
  EXPECT_EQ(error_, "failure policy action RestartJob needs the feature gate RestartJob");
  EXPECT_EQ(status, set_.status);
}

}  // namespace failure_policy_test
}  // namespace muster::controllers::jobset
