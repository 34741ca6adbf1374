#include "controllers/jobset/status_draft.h"

#include <gmock/gmock.h>

#include "controllers/jobset/sequence.h"
#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace status_draft_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NewCondition kSuspended{
    .type = "Suspended", .reason = "SuspendedJobs", .message = "jobset is suspended"};
constexpr NewCondition kResumed{
    .type = "Suspended", .is_true = false, .reason = "ResumeJobs", .message = "jobset is resumed"};
constexpr NewCondition kInProgress{
    .type = "StartupPolicyInProgress", .reason = "InProgress", .message = "in progress"};
constexpr NewCondition kCompleted{
    .type = "StartupPolicyCompleted", .reason = "Completed", .message = "completed"};

// Applies conditions one after the other, a minute apart, each to what was stored before.
class Conditions : public ::testing::Test {
 protected:
  void apply(const NewCondition& condition) {
    StatusDraft draft(set_, now_);
    draft.set_condition(condition);
    events_.clear();
    for (const Event& event : draft.take_events()) events_.push_back(text_of(event));
    set_.status = draft.status();
    now_ += std::chrono::minutes(1);
  }
  std::vector<std::string> conditions() const {
    std::vector<std::string> out;
    for (const api::Condition& each : set_.status.conditions) {
      out.push_back(fmt::format("{} {} {} {}", each.type, each.status, each.reason,
                                format_time(*each.last_transition_time).substr(11, 5)));
    }
    return out;
  }

  api::JobSet set_ = read(jobset({job("w")}));
  Time now_ = *parse_time("2026-01-01T10:00:00Z");
  std::vector<std::string> events_;
};

TEST_F(Conditions, AreAddedWhenTrue) {
  apply(kSuspended);
  EXPECT_THAT(conditions(), ElementsAre("Suspended True SuspendedJobs 10:00"));
  EXPECT_THAT(events_, ElementsAre("Normal SuspendedJobs: jobset is suspended"));
}

TEST_F(Conditions, AreNotAddedWhenFalse) {
  apply(kResumed);
  EXPECT_THAT(conditions(), IsEmpty());
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(Conditions, ThatSayTheSameAreNoNews) {
  apply(kSuspended);
  apply(kSuspended);
  EXPECT_THAT(conditions(), ElementsAre("Suspended True SuspendedJobs 10:00"));
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(Conditions, ChangeInPlace) {
  apply(kSuspended);
  apply(kResumed);
  EXPECT_THAT(conditions(), ElementsAre("Suspended False ResumeJobs 10:01"));
  EXPECT_THAT(events_, ElementsAre("Normal ResumeJobs: jobset is resumed"));
}

TEST_F(Conditions, KeepTheirTimeWhenOnlyTheReasonChanges) {
  apply(kSuspended);
  NewCondition other = kSuspended;
  other.reason = "OtherReason";
  apply(other);
  EXPECT_THAT(conditions(), ElementsAre("Suspended True OtherReason 10:00"));
  EXPECT_THAT(events_, ElementsAre("Normal OtherReason: jobset is suspended"));
  other.message = "other message";
  apply(other);
  EXPECT_THAT(conditions(), ElementsAre("Suspended True OtherReason 10:00"));
  EXPECT_THAT(events_, ElementsAre("Normal OtherReason: other message"));
}

TEST_F(Conditions, OfTheStartupPolicyExcludeEachOther) {
  apply(kInProgress);
  apply(kCompleted);
  EXPECT_THAT(conditions(), ElementsAre("StartupPolicyInProgress False InProgress 10:00",
                                        "StartupPolicyCompleted True Completed 10:01"));
  apply(kInProgress);
  EXPECT_THAT(conditions(), ElementsAre("StartupPolicyInProgress True InProgress 10:02",
                                        "StartupPolicyCompleted False Completed 10:01"));
  EXPECT_THAT(events_, ElementsAre("Normal InProgress: in progress"));
}

TEST_F(Conditions, OfOursComeAndGoWithoutEvents) {
  StatusDraft draft(set_, now_);
  draft.set_or_remove("muster.dev/Waiting", api::Condition{.reason = "Dependency", .message = "m"});
  EXPECT_TRUE(draft.is_changed());
  set_.status = draft.status();
  EXPECT_THAT(conditions(), ElementsAre("muster.dev/Waiting True Dependency 10:00"));

  StatusDraft later(set_, now_ + std::chrono::minutes(5));
  later.set_or_remove("muster.dev/Waiting", api::Condition{.reason = "Dependency", .message = "n"});
  EXPECT_TRUE(later.is_changed());
  EXPECT_EQ(later.status().conditions[0].last_transition_time, now_);
  later.set_or_remove("muster.dev/Waiting", std::nullopt);
  EXPECT_THAT(later.status().conditions, IsEmpty());
  EXPECT_THAT(later.take_events(), IsEmpty());
}

TEST(StatusPatch, HoldsWhatChangedAndTheRestartsAlways) {
  json::Arena arena;
  api::JobSetStatus before, after;
  after.replicated_jobs = {{.name = "w", .ready = 1}};
  EXPECT_THAT(status_patch(arena, before, after), IsJson(R"({"status": {"restarts": 0,
      "replicatedJobsStatus": [{"name": "w", "ready": 1, "succeeded": 0, "failed": 0, "active": 0,
                                "suspended": 0}]}})"));
  before = after;
  after.restarts = after.restarts_count_towards_max = 1;
  after.terminal_state = "Failed";
  EXPECT_THAT(status_patch(arena, before, after),
              IsJson(R"({"status": {"restarts": 1, "restartsCountTowardsMax": 1,
                                    "terminalState": "Failed"}})"));
  before = after;
  after.replicated_jobs[0].job_restarts = {0, 1};
  after.replicated_jobs[0].job_restarts_count_towards_max = {0, 1};
  EXPECT_THAT(status_patch(arena, before, after), IsJson(R"({"status": {"restarts": 1,
      "replicatedJobsStatus": [{"name": "w", "ready": 1, "succeeded": 0, "failed": 0, "active": 0,
          "suspended": 0, "jobRestarts": [0, 1], "jobRestartsCountTowardsMax": [0, 1]}]}})"));
}

TEST(StatusPatch, KeepsWhatOthersWroteInTheirConditions) {
  json::Arena arena;
  api::JobSetStatus before;
  before.conditions = {{.type = "example.com/X",
                        .status = "Unknown",
                        .reason = "R",
                        .message = "m",
                        .last_transition_time = Time{},
                        .observed_generation = 3}};
  api::JobSetStatus after = before;
  after.conditions.push_back({.type = "T", .status = "True", .last_transition_time = Time{}});
  EXPECT_THAT(
      status_patch(arena, before, after).get({"status", "conditions"}).item(0),
      IsJson(R"({"type": "example.com/X", "status": "Unknown", "reason": "R", "message": "m",
                  "lastTransitionTime": "1970-01-01T00:00:00Z", "observedGeneration": 3})"));
}

TEST(StatusDraft, KnowsWhetherOnlyCountsChanged) {
  api::JobSet set = read(jobset({job("w")}));
  set.status.replicated_jobs = {{.name = "w", .ready = 1}};
  const auto changed = [&](auto change) {
    StatusDraft draft(set, Time{});
    change(draft);
    return draft.only_counts_changed();
  };
  EXPECT_FALSE(changed([](StatusDraft&) {}));
  EXPECT_TRUE(changed([](StatusDraft& d) { d.edit().replicated_jobs[0].ready = 2; }));
  EXPECT_TRUE(
      changed([](StatusDraft& d) { d.set_or_remove(api::kWaitingCondition, api::Condition{}); }));
  EXPECT_FALSE(changed([](StatusDraft& d) { d.edit().replicated_jobs[0].job_restarts = {1}; }));
  EXPECT_FALSE(changed([](StatusDraft& d) { d.edit().restarts = 1; }));
  EXPECT_FALSE(changed([](StatusDraft& d) { d.set_condition(kSuspended); }));
}

}  // namespace status_draft_test
}  // namespace muster::controllers::jobset
