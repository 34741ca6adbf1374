#include "controllers/job/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace plan_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::job;
using testing::kStart;
using ::testing::Not;
using testing::pod;
using testing::pointers;
using ::testing::SizeIs;

class JobPlan : public ::testing::Test {
 protected:
  JobPlan() {
    jobs_.gvk.group = "batch";
    jobs_.plural = "jobs";
    pods_.plural = "pods";
  }

  // The writes, one string per step.
  std::vector<std::string> plan_for(const Job& j, const std::vector<Pod>& pods,
                                    const std::vector<Pod>& loose = {}) {
    out_ = plan({&jobs_, &pods_}, {.job = j,
                                   .controlled = pointers(pods),
                                   .uncontrolled = pointers(loose),
                                   .backoff = backoff_,
                                   .births = births_,
                                   .goes_with_owner = goes_with_owner_,
                                   .failures = failures_,
                                   .now = kStart + seconds(now_)});
    std::vector<std::string> steps;
    for (const Step& step : out_.plan.steps) {
      std::string text;
      for (const Write& write : step.writes) {
        if (!text.empty()) text += ", ";
        text += write.operation.summary();
      }
      steps.push_back(text);
    }
    return steps;
  }
  // The status that the plan writes.
  std::string status() const {
    for (const auto& operation : out_.plan.operations()) {
      if (operation.subresource == "status") return operation.body.text();
    }
    return "";
  }
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const Event& event : out_.plan.events)
      out.push_back((event.warning ? "! " : "") + event.reason + ": " + event.message);
    return out;
  }

  api::Resource jobs_, pods_;
  BackoffRecord backoff_;
  CreationRoom births_;
  bool goes_with_owner_ = false;
  int failures_ = 0;
  int now_ = 0;
  Outcome out_;
};

// A status that says all there is to say of these counts.
std::string stored(int active, int ready, int terminating, std::string_view more = "") {
  return fmt::format(R"({}"ready":{},"terminating":{},"uncountedTerminatedPods":{{}},)"
                     R"("startTime":"2026-03-01T00:00:00Z"{}{})",
                     active == 0 ? "" : fmt::format(R"("active":{},)", active), ready, terminating,
                     more.empty() ? "" : ",", more);
}

TEST_F(JobPlan, PodsComeInGrowingBatchesBeforeTheStatusThatCountsThem) {
  EXPECT_THAT(plan_for(job(R"("parallelism":5)"), {}),
              ElementsAre("create pods d/j-", "create pods d/j-, create pods d/j-",
                          "create pods d/j-, create pods d/j-", "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("active":5,"ready":0,"terminating":0)"));
  EXPECT_THAT(status(), HasSubstr(R"("startTime":"2026-03-01T00:00:00Z")"));
  const Write& create = out_.plan.steps[0].writes[0];
  EXPECT_EQ(create.when_done->message, "Created pod: {}");
  EXPECT_EQ(create.when_refused->reason, "FailedCreate");
}

TEST_F(JobPlan, ThereIsNothingToDoTheSecondTime) {
  EXPECT_THAT(plan_for(job(R"("parallelism":2)", stored(2, 1, 0)), {pod("a"), pod("b").ready()}),
              IsEmpty());
}

TEST_F(JobPlan, AfterAFailedPassTheTruthComesFirst) {
  failures_ = 1;
  EXPECT_THAT(plan_for(job(R"("parallelism":2)", stored(2, 0, 0)), {pod("a")}),
              ElementsAre("patch jobs.batch/status d/j", "create pods d/j-"));
  EXPECT_THAT(status(), HasSubstr(R"("active":1)"));
  EXPECT_THAT(plan_for(job(R"("parallelism":2)", stored(1, 0, 0)), {pod("a")}),
              ElementsAre("create pods d/j-", "patch jobs.batch/status d/j"))
      << "it is known already";
}

TEST_F(JobPlan, AfterAFailedPassNoJobEndsBeforeItsPodsAreStopped) {
  failures_ = 1;
  const Job j = job(R"("parallelism":2,"backoffLimit":0)", stored(2, 0, 0));
  EXPECT_THAT(plan_for(j, {pod("a"), pod("f").failed()}),
              ElementsAre("patch jobs.batch/status d/j", "patch pods d/f", "delete pods d/a"));
  EXPECT_THAT(status(), Not(HasSubstr("FailureTarget")));
  EXPECT_THAT(status(), HasSubstr(R"("active":1)"));
}

TEST_F(JobPlan, ABackoffKeepsTheStatusTrue) {
  backoff_ = {.failures = 1, .last_failure = kStart, .seen = {}};
  now_ = 4;
  EXPECT_THAT(plan_for(job(R"("parallelism":3)", stored(2, 2, 0)), {pod("a").ready()}),
              ElementsAre("patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("active":1,"ready":1)"));
  EXPECT_EQ(out_.plan.look_again, seconds(6));
}

TEST_F(JobPlan, AnIgnoredFailureStillDelaysTheNextPod) {
  const Job j = job(R"("parallelism":1,"podFailurePolicy":{"rules":[{"action":"Ignore",)"
                    R"("onExitCodes":{"operator":"In","values":[4]}}]})",
                    stored(1, 0, 0));
  plan_for(j, {pod("i").failed(seconds(0), 4)});
  EXPECT_EQ(out_.plan.look_again, seconds(10));
  EXPECT_THAT(status(), Not(HasSubstr("failed")));
}

TEST_F(JobPlan, ASurplusPodIsNotCountedSoItsFinalizerGoesFirst) {
  EXPECT_THAT(plan_for(job(R"("parallelism":1)", stored(2, 1, 0)), {pod("a").ready(), pod("b")}),
              ElementsAre("patch pods d/b", "delete pods d/b", "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("active":1,"terminating":1)"));
  EXPECT_EQ(out_.plan.steps[1].writes[0].when_done->message, "Deleted pod: b");
}

TEST_F(JobPlan, SuspendingStopsAllAndForgetsTheStart) {
  EXPECT_THAT(plan_for(job(R"("parallelism":2,"suspend":true)", stored(2, 1, 0)),
                       {pod("a").ready(), pod("b")}),
              ElementsAre("patch pods d/a, patch pods d/b", "delete pods d/a, delete pods d/b",
                          "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("ready":0,"terminating":2)"));
  EXPECT_THAT(status(), HasSubstr(R"("type":"Suspended","status":"True")"));
  EXPECT_THAT(status(), HasSubstr(R"("startTime":null)"));
  EXPECT_THAT(events(), ElementsAre("Suspended: Job suspended"));
}

constexpr std::string_view kSuspended =
    R"("ready":0,"terminating":0,"uncountedTerminatedPods":{},"conditions":[{"type":"Suspended",)"
    R"("status":"True","reason":"JobSuspended","message":"Job suspended"}])";

TEST_F(JobPlan, ASuspendedJobHasNothingToDo) {
  EXPECT_THAT(plan_for(job(R"("suspend":true)", kSuspended), {}), IsEmpty());
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(JobPlan, ResumingStartsAgain) {
  now_ = 60;
  EXPECT_THAT(plan_for(job(R"("parallelism":1)", kSuspended), {}),
              ElementsAre("create pods d/j-", "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("type":"Suspended","status":"False","reason":"JobResumed")"));
  EXPECT_THAT(status(), HasSubstr(R"("startTime":"2026-03-01T00:01:00Z")"));
  EXPECT_THAT(events(), ElementsAre("Resumed: Job resumed"));
}

TEST_F(JobPlan, SuccessIsAnnouncedThenCountedAndTold) {
  const std::vector<Pod> done = {pod("a").succeeded(), pod("b").succeeded()};
  const Job j = job(R"("completions":2)", stored(2, 0, 0));
  EXPECT_THAT(plan_for(j, done),
              ElementsAre("patch jobs.batch/status d/j", "patch pods d/a, patch pods d/b"));
  EXPECT_THAT(status(), HasSubstr(R"("uncountedTerminatedPods":{"succeeded":["u-a","u-b"]})"));
  EXPECT_THAT(status(), HasSubstr("SuccessCriteriaMet"));
  EXPECT_THAT(status(), Not(HasSubstr(R"("Complete")")));
  EXPECT_THAT(events(), IsEmpty());

  const Job announced =
      job(R"("completions":2)",
          R"("ready":0,"terminating":0,"uncountedTerminatedPods":{"succeeded":["u-a","u-b"]},)"
          R"("startTime":"2026-03-01T00:00:00Z","conditions":[{"type":"SuccessCriteriaMet",)"
          R"("status":"True","reason":"CompletionsReached","message":"Reached"}])");
  EXPECT_THAT(plan_for(announced, {pod("a").succeeded().untracked()}),
              ElementsAre("patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("succeeded":2)"));
  EXPECT_THAT(status(), HasSubstr(R"("type":"Complete","status":"True")"));
  EXPECT_THAT(status(), HasSubstr(R"("completionTime":"2026-03-01T00:00:00Z")"));
  EXPECT_THAT(events(), ElementsAre("Completed: Job completed"));
  EXPECT_EQ(out_.tally.pods_succeeded, 2);
  EXPECT_EQ(out_.tally.finished_as, "Complete");
}

std::string failing(std::string_view more) {
  return stored(0, 0, 0,
                fmt::format(R"("conditions":[{{"type":"FailureTarget","status":"True",)"
                            R"("reason":"R","message":"M"}}]{})",
                            more));
}

TEST_F(JobPlan, AJobEndsOnlyWhenNothingIsLeftOfItsPods) {
  const Job j = job("", failing(R"(,"failed":1)"));
  EXPECT_THAT(plan_for(j, {}), ElementsAre("patch jobs.batch/status d/j"));
  EXPECT_THAT(events(), ElementsAre("! R: M"));
  plan_for(j, {pod("going").phase("Running").untracked().deleted()});
  EXPECT_THAT(status(), HasSubstr(R"("terminating":1)"));
  EXPECT_THAT(status(), Not(HasSubstr(R"("type":"Failed")")));
  const Job waiting = job("", R"("ready":0,"terminating":1,"uncountedTerminatedPods":{},)"
                              R"("startTime":"2026-03-01T00:00:00Z","conditions":)"
                              R"([{"type":"FailureTarget","status":"True"}])");
  plan_for(waiting, {});
  EXPECT_THAT(status(), HasSubstr(R"("terminating":0)"));
  EXPECT_THAT(status(), Not(HasSubstr(R"("type":"Failed")"))) << "that is the next look";
  EXPECT_FALSE(out_.plan.look_again);
}

TEST_F(JobPlan, FailureStopsWhatRunsAndCountsIt) {
  EXPECT_THAT(plan_for(job(R"("parallelism":2,"backoffLimit":0)", stored(2, 1, 0)),
                       {pod("a").ready(), pod("f").failed()}),
              ElementsAre("delete pods d/a", "patch jobs.batch/status d/j",
                          "patch pods d/a, patch pods d/f"));
  EXPECT_THAT(status(), HasSubstr(R"("failed":["u-a","u-f"])"));
  EXPECT_THAT(status(), HasSubstr(R"("terminating":1)"));
}

TEST_F(JobPlan, TooManySuccessesAreTold) {
  const Job j = job(R"("completions":1)",
                    R"("ready":0,"terminating":0,"uncountedTerminatedPods":{},"succeeded":2,)"
                    R"("startTime":"2026-03-01T00:00:00Z","conditions":)"
                    R"([{"type":"SuccessCriteriaMet","status":"True"}])");
  plan_for(j, {});
  EXPECT_THAT(events(), ElementsAre("! TooManySucceededPods: Too many succeeded pods running after "
                                    "completion count reached",
                                    "Completed: Job completed"));
}

TEST_F(JobPlan, AJobThatIsDeletedMakesNothing) {
  constexpr std::string_view kDeleted = R"("deletionTimestamp":"2026-03-01T00:00:00Z")";
  EXPECT_THAT(plan_for(job(R"("parallelism":2)", stored(0, 0, 0), kDeleted), {}), IsEmpty());
  EXPECT_THAT(
      plan_for(job(R"("parallelism":2,"suspend":true)", stored(1, 0, 0), kDeleted), {pod("a")}),
      ElementsAre("patch pods d/a"))
      << "it only lets go of what it has";
}

TEST_F(JobPlan, FinishedAndForeignJobsAreNotTouched) {
  backoff_.failures = 3;
  const std::vector<Job> jobs = {
      job("", R"("conditions":[{"type":"Complete","status":"True"}])"),
      job("", R"("conditions":[{"type":"Failed","status":"True"}])"),
      job(R"("managedBy":"acme.io/x")"),
  };
  for (const Job& j : jobs) {
    EXPECT_THAT(plan_for(j, {pod("a").failed()}), IsEmpty());
    EXPECT_EQ(out_.backoff.failures, 0) << "there is nothing to remember";
  }
  EXPECT_THAT(plan_for(job(R"("managedBy":"kubernetes.io/job-controller")"), {}), Not(IsEmpty()));
}

TEST_F(JobPlan, AnUnknownCompletionModeIsTold) {
  EXPECT_THAT(plan_for(job(R"("completionMode":"Circular")"), {}), IsEmpty());
  EXPECT_THAT(events(), ElementsAre("! UnknownCompletionMode: Skipped Job sync because completion "
                                    "mode is unknown"));
}

TEST_F(JobPlan, ClaimsAreSettledFirstAndOnlyByTheLivingJob) {
  EXPECT_THAT(plan_for(job(R"("parallelism":2)"), {pod("strayed").label("job", "x")},
                       {pod("lost").uncontrolled()}),
              ElementsAre("patch jobs.batch d/j", "patch pods d/strayed, patch pods d/lost"));
  const auto operations = out_.plan.operations();
  EXPECT_EQ(operations[0].body.text(), R"({"metadata":{"uid":"u-j","resourceVersion":"1"}})");
  EXPECT_EQ(operations[1].body.text(),
            R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u-j"}],)"
            R"("$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"],)"
            R"("uid":"u-strayed"}})");
  EXPECT_EQ(operations[2].body.text(),
            R"({"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j",)"
            R"("uid":"u-j","controller":true,"blockOwnerDeletion":true}],)"
            R"("finalizers":["batch.kubernetes.io/job-tracking"],"uid":"u-lost"}})");
  EXPECT_THAT(plan_for(job(R"("parallelism":2)"), {pod("strayed").label("job", "x")}),
              ElementsAre("patch pods d/strayed"));
}

TEST_F(JobPlan, WakesForTheDeadlineUnlessItIsOver) {
  now_ = 4;
  plan_for(job(R"("activeDeadlineSeconds":10)", stored(1, 0, 0)), {pod("a")});
  EXPECT_EQ(out_.plan.look_again, seconds(6));
  plan_for(job(R"("activeDeadlineSeconds":10)"), {});
  EXPECT_EQ(out_.plan.look_again, seconds(10)) << "it starts now";
  now_ = 10;
  plan_for(job(R"("activeDeadlineSeconds":10)", stored(1, 0, 0)), {pod("a")});
  EXPECT_THAT(status(), HasSubstr("DeadlineExceeded"));
  EXPECT_FALSE(out_.plan.look_again);
}

TEST_F(JobPlan, FailedIndexesAreListedFromTheFirstStatusOn) {
  plan_for(job(R"("completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1)"), {});
  EXPECT_THAT(status(), HasSubstr(R"("failedIndexes":"")"));
  plan_for(job(R"("completionMode":"Indexed","completions":2)"), {});
  EXPECT_THAT(status(), Not(HasSubstr("failedIndexes")));
}

TEST_F(JobPlan, PodsThatMustWaitForRoomAreNotCountedAndPeopleAreTold) {
  births_ = {.room = 1, .limit = 7};
  EXPECT_THAT(plan_for(job(R"("parallelism":3)"), {}),
              ElementsAre("create pods d/j-", "patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("active":1)"));
  EXPECT_THAT(status(), HasSubstr(R"("type":"muster.dev/Waiting")"));
  EXPECT_THAT(status(), HasSubstr("at most 7 of a Job wait for one"));
  EXPECT_THAT(events(), ElementsAre(HasSubstr("PodLimit: it has more pods than are created")));
  EXPECT_TRUE(out_.held_back);
}

TEST_F(JobPlan, AJobOfASetLeavesItToTheSetToTell) {
  births_ = {.room = 0, .limit = 7};
  Job j = job(R"("parallelism":3)");
  j.pods_set = "train";
  plan_for(j, {});
  EXPECT_THAT(status(), HasSubstr("at most 7 of a JobSet wait for one"));
  EXPECT_THAT(events(), IsEmpty());
  births_.of_all = true;
  plan_for(j, {});
  EXPECT_THAT(status(), HasSubstr("at most 7 of all Jobs wait for one"));
}

TEST_F(JobPlan, WhenAllPodsAreCreatedNothingIsHeldBackAnyMore) {
  const std::string held = R"("conditions":[{"type":"muster.dev/Waiting","status":"True",)"
                           R"("reason":"PodLimit","message":"m"}])";
  const Job j = job(R"("parallelism":1)", stored(1, 0, 0, held));
  EXPECT_THAT(plan_for(j, {pod("a")}), ElementsAre("patch jobs.batch/status d/j"));
  EXPECT_THAT(status(), HasSubstr(R"("status":"False")"));
  EXPECT_THAT(events(), IsEmpty());
  EXPECT_FALSE(out_.held_back);
}

TEST_F(JobPlan, AJobThatGoesWithItsOwnerGetsNoMorePods) {
  goes_with_owner_ = true;
  const Job j = job(R"("parallelism":3)", stored(1, 0, 0));
  EXPECT_THAT(plan_for(j, {pod("a")}), IsEmpty());
  EXPECT_FALSE(out_.held_back);
  EXPECT_THAT(plan_for(j, {pod("a").failed()}),
              ElementsAre("patch jobs.batch/status d/j", "patch pods d/a"))
      << "what there is still counts";
}

}  // namespace plan_test
}  // namespace muster::controllers::job
