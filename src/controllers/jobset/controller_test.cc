// What the controller asks of a server, what it tells and counts, and when. What it decides is in
// the other tests.
#include "controllers/jobset/controller.h"

#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::jobset {
namespace controller_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSets = "/apis/jobset.x-k8s.io/v1alpha2/jobsets";
constexpr const char* kJobs = "/apis/batch/v1/jobs";
constexpr const char* kStatus =
    "PATCH /apis/jobset.x-k8s.io/v1alpha2/namespaces/d/jobsets/js/status";
constexpr const char* kEvent = "POST /apis/events.k8s.io/v1/namespaces/d/events";

class JobSetController : public controllers::testing::ControllerTest<Controller> {
 protected:
  JobSetController() {
    informers_.start();
    server_.settle();
  }
  static std::string set(int revision, std::string_view status = "") {
    return fmt::format(
        R"({{"metadata":{{"namespace":"d","name":"js","uid":"u-js","resourceVersion":"{}"}},)"
        R"("spec":{{"replicatedJobs":[{{"name":"w","replicas":1,"template":{{"spec":{{}}}}}}]}},)"
        R"("status":{{{}}}}})",
        revision, status);
  }
  static std::string job(int revision, std::string_view owner = "u-js",
                         std::string_view conditions = "") {
    return fmt::format(
        R"({{"metadata":{{"namespace":"d","name":"js-w-0","uid":"u-js-w-0","resourceVersion":"{}",)"
        R"("labels":{{"jobset.sigs.k8s.io/replicatedjob-name":"w",)"
        R"("jobset.sigs.k8s.io/restart-attempt":"0"}},"ownerReferences":[{{"apiVersion":)"
        R"("jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"js","uid":"{}","controller":true}}]}},)"
        R"("spec":{{"parallelism":1}},"status":{{"conditions":[{}]}}}})",
        revision, owner, conditions);
  }
  // A set whose only Job has just completed.
  void show_completed() {
    server_.show(kSets, "ADDED", set(2));
    server_.show(kJobs, "ADDED", job(3, "u-js", R"({"type":"Complete","status":"True"})"));
    server_.complete_all(3);
  }
};

class OneMachine : public controllers::testing::EngineTest {};

TEST_F(OneMachine, APortIsFoundBetweenTwoPlans) {
  shared_.port_is_free = [](int port) { return port == 12'345; };
  const Controller controller(shared_);
  informers_.start();
  server_.show(kSets, "ADDED",
               R"({"metadata":{"namespace":"d","name":"js","uid":"u-js","resourceVersion":"2",
                   "annotations":{"muster.dev/rank-env":"true"}},
                   "spec":{"replicatedJobs":[{"name":"w","replicas":1,"template":{"spec":{
                   "template":{"spec":{"containers":[{"name":"main"}]}}}}}]}})");
  server_.complete_all(2);
  ASSERT_THAT(server_.waiting(), ElementsAre("POST /apis/batch/v1/namespaces/d/jobs"));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr(R"("muster.dev/master-port":"12345")"));
}

TEST_F(JobSetController, DoesNothingBeforeItKnowsEverything) {
  server_.show(kSets, "ADDED", set(2));
  server_.show_complete(kSets, 2);
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "the Job may be there already";
  server_.complete_all(2);
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /apis/batch/v1/namespaces/d/jobs"));
}

TEST_F(JobSetController, DoesNotCreateAgainWhatItHasNotSeenYet) {
  server_.show(kSets, "ADDED", set(2));
  server_.complete_all(2);
  server_.answer_object("js-w-0", 3);
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatus));
  server_.answer_object("js", 4);
  server_.show(kSets, "MODIFIED", set(4, R"("restarts":0)"));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show(kJobs, "ADDED", job(3));
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatus));
}

// Whoever may create Jobs in one namespace could stop the sets of all others.
TEST_F(JobSetController, AJobOfAnotherNamespaceIsNotItsOwnWhateverItClaims) {
  std::string stranger = job(3, "u-js", R"({"type":"Failed","status":"True"})");
  stranger.replace(stranger.find(R"("d")"), 3, R"("e")");
  server_.show(kSets, "ADDED", set(2));
  server_.show(kJobs, "ADDED", stranger);
  server_.complete_all(3);
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /apis/batch/v1/namespaces/d/jobs"));
}

TEST_F(JobSetController, TellsAndCountsWhenTheStatusIsWritten) {
  show_completed();
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatus));
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("jobset_completed_total")));
  server_.answer_object("js", 4);
  EXPECT_THAT(server_.waiting(), ElementsAre(kEvent));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr("AllJobsCompleted"));
  EXPECT_THAT(server_.asked.front().body(), HasSubstr(R"("reportingController":"jobset")"));
  EXPECT_THAT(metrics_.text(),
              HasSubstr("jobset_completed_total{jobset_name=\"js\",namespace=\"d\"} 1"));
}

TEST_F(JobSetController, AConflictIsNeitherToldNorCountedButTriedAgain) {
  show_completed();
  server_.refuse(409, "Conflict");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("jobset_completed_total")));
  server_.pass_time(std::chrono::seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre(kStatus));
}

TEST_F(JobSetController, NoticesThatAJobWasTakenAway) {
  server_.show(kSets, "ADDED", set(2));
  server_.show(kJobs, "ADDED", job(3));
  server_.complete_all(3);
  server_.answer_object("js", 4);
  server_.show(kSets, "MODIFIED",
               set(4, R"("restarts":0,"replicatedJobsStatus":[{"name":"w","ready":0,"succeeded":0,
                         "failed":0,"active":0,"suspended":0}])"));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show(kJobs, "MODIFIED", job(5, "somebody-else"));
  EXPECT_THAT(server_.waiting(), ElementsAre("POST /apis/batch/v1/namespaces/d/jobs"));
}

TEST_F(JobSetController, ForgetsTheCountersOfASetThatIsGone) {
  show_completed();
  server_.answer_object("js", 4);
  server_.show(kSets, "DELETED", set(5));
  EXPECT_THAT(metrics_.text(), Not(HasSubstr("jobset_completed_total{")));
}

}  // namespace controller_test
}  // namespace muster::controllers::jobset
