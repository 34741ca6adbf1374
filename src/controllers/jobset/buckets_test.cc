#include "controllers/jobset/buckets.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace buckets_test {

using ::testing::HasSubstr;

constexpr Gates kRestartJob{.restart_job = true};

// Where a Job is put: "active", "successful", "failed", "previous", or the error.
std::string bucket_of(const api::JobSet& set, const Child& child, Gates gates = {}) {
  const Child* const only = &child;
  const auto buckets = sort_into_buckets(set, {&only, 1}, gates);
  if (!buckets) return buckets.error().message;
  if (!buckets->active.empty()) return "active";
  if (!buckets->successful.empty()) return "successful";
  if (!buckets->failed.empty()) return "failed";
  return buckets->previous.empty() ? "nowhere" : "previous";
}

api::JobSet set_with_restarts(int restarts, std::vector<std::int32_t> job_restarts = {}) {
  api::JobSet set = read(jobset({job("w", {.replicas = 2})}));
  set.status.restarts = restarts;
  set.status.replicated_jobs = {{.name = "w", .job_restarts = std::move(job_restarts)}};
  return set;
}

Child with_conditions(std::string_view conditions) {
  return read_child(json::Tree(fmt::format(
      R"({{"metadata": {{"name": "js-w-0", "labels": {{"jobset.sigs.k8s.io/restart-attempt": "0"}}}},
           "spec": {{}}, "status": {{"conditions": [{}]}}}})",
      conditions)));
}

TEST(Buckets, AJobIsFinishedWhenItSaysCompleteOrFailed) {
  const struct {
    std::string_view conditions, bucket;
  } rows[] = {
      {R"({"type": "Complete", "status": "True"})", "successful"},
      {R"({"type": "Failed", "status": "True"})", "failed"},
      {R"()", "active"},
      {R"({"type": "Complete", "status": "False"})", "active"},
      {R"({"type": "Suspended", "status": "True"})", "active"},
      {R"({"type": "FailureTarget", "status": "True"})", "active"},
      {R"({"type": "SuccessCriteriaMet", "status": "True"})", "active"},
      {R"({"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"})",
       "successful"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(bucket_of(set_with_restarts(0), with_conditions(row.conditions)), row.bucket)
        << row.conditions;
  }
}

TEST(Buckets, AnEarlierAttemptIsPreviousALaterOneIsNot) {
  EXPECT_EQ(bucket_of(set_with_restarts(1), child({.attempt = 0})), "previous");
  EXPECT_EQ(bucket_of(set_with_restarts(1), child({.attempt = 1})), "active");
  // The status that counted the restart has not come back yet.
  EXPECT_EQ(bucket_of(set_with_restarts(1), child({.attempt = 2})), "active");
  EXPECT_EQ(bucket_of(set_with_restarts(1), complete_child({.attempt = 0})), "previous");
}

TEST(Buckets, ATerminatingJobOfThisAttemptStaysWhereItIs) {
  Child leaving = child();
  leaving.terminating = true;
  EXPECT_EQ(bucket_of(set_with_restarts(0), leaving), "active");
}

TEST(Buckets, AJobWithoutAnAttemptStopsThePass) {
  Child bare = child();
  bare.restart_attempt = {};
  EXPECT_THAT(bucket_of(set_with_restarts(0), bare), HasSubstr("restart-attempt"));
  bare.restart_attempt = {.present = true, .value = std::nullopt};
  EXPECT_THAT(bucket_of(set_with_restarts(0), bare), HasSubstr("restart-attempt"));
}

TEST(Buckets, LabelsAreNumbersOnlyIfNothingElseIsInThem) {
  const auto attempt = [](std::string_view text) {
    return read_child(
               json::Tree(fmt::format(
                   R"({{"metadata": {{"labels": {{"jobset.sigs.k8s.io/restart-attempt": "{}"}}}}}})",
                   text)))
        .restart_attempt.value;
  };
  EXPECT_EQ(attempt("12"), 12);
  for (const std::string_view text : {"", "x", "1x", "1.5", "99999999999"}) {
    EXPECT_EQ(attempt(text), std::nullopt) << text;
  }
}

TEST(Buckets, WithTheGateASingleJobMayBeOfAnEarlierAttempt) {
  Child one = child({.index = 1});
  one.job_restart_attempt = {.present = true, .value = 0};
  EXPECT_EQ(bucket_of(set_with_restarts(0, {0, 1}), one, kRestartJob), "previous");
  EXPECT_EQ(bucket_of(set_with_restarts(0, {1, 0}), one, kRestartJob), "active");
  EXPECT_EQ(bucket_of(set_with_restarts(0), one, kRestartJob), "active");
  EXPECT_EQ(bucket_of(set_with_restarts(0, {0, 1}), one), "active") << "the gate is off";
  // From before the gate was switched on.
  one.job_restart_attempt = {};
  EXPECT_EQ(bucket_of(set_with_restarts(0, {0, 1}), one, kRestartJob), "active");
}

TEST(Buckets, WithTheGateAJobMustSayWhichOneItIs) {
  Child one = child({.index = 7});
  one.job_restart_attempt = {.present = true, .value = 0};
  EXPECT_THAT(bucket_of(set_with_restarts(0, {0, 0}), one, kRestartJob), HasSubstr("index 7"));
  EXPECT_THAT(bucket_of(set_with_restarts(0), one, kRestartJob), HasSubstr("index 7"));
  one.job_index = {};
  EXPECT_THAT(bucket_of(set_with_restarts(0), one, kRestartJob), HasSubstr("job-index"));
  one.replicated_job.reset();
  EXPECT_THAT(bucket_of(set_with_restarts(0), one, kRestartJob), HasSubstr("replicatedjob-name"));
  one = child();
  one.job_restart_attempt = {.present = true, .value = std::nullopt};
  EXPECT_THAT(bucket_of(set_with_restarts(0), one, kRestartJob), HasSubstr("job-restart-attempt"));
}

}  // namespace buckets_test
}  // namespace muster::controllers::jobset
