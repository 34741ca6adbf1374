// What the scheduler does while a binding is in flight.
#include "scheduler/scheduler_testing.h"

namespace muster::scheduler {
namespace binding_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BindingTest : public SchedulerTest {};

TEST_F(BindingTest, ABindingThatFailsIsTriedAgain) {
  node("a");
  complete();
  pod("p", "1");
  server_.refuse(500, "InternalError");
  EXPECT_THAT(writes(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(BindingTest, ABindingThatIsRefusedGivesItsPlaceBack) {
  node("a");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  server_.refuse(403, "Forbidden");
  pod("q", "3");
  ASSERT_THAT(writes(), ElementsAre(binding("q"))) << "p rests";
  accept();
  server_.pass_time(std::chrono::milliseconds(5));
  EXPECT_THAT(writes(), ElementsAre(status("p"))) << "there is no room any more";
}

TEST_F(BindingTest, ABindingWhoseAnswerIsLostKeepsItsPlaceUntilThePodShowsWhatHappened) {
  node("a");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  server_.refuse(503, "ServiceUnavailable");
  pod("q", "3");
  ASSERT_THAT(writes(), ElementsAre(status("q")));
  server_.answer_object("q", 1);
  server_.pass_time(std::chrono::milliseconds(5));
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  server_.refuse(409, "Conflict");  // the first one had succeeded
  server_.pass_time(seconds(10));
  EXPECT_THAT(writes(), IsEmpty());
  pod("p", "3", R"("nodeName":"a",)", "MODIFIED");
  EXPECT_THAT(writes(), IsEmpty());
  gone("p");
  EXPECT_THAT(writes(), ElementsAre(binding("q")));
}

TEST_F(BindingTest, APodThatNeedNotBeBoundAnyMoreGivesItsPlaceBack) {
  node("a");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  pod("p", "3", R"("schedulingGates":[{"name":"wait"}],)", "MODIFIED");
  pod("q", "3");
  EXPECT_THAT(writes(), ElementsAre(binding("p"), binding("q")));
}

TEST_F(BindingTest, APodThatGoesWhileItIsBoundGivesItsPlaceBack) {
  node("a");
  complete();
  pod("p", "3");
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  pod("q", "3");
  gone("p");
  server_.refuse(404, "NotFound");
  server_.answer_object("q", 1);  // that there is no room
  EXPECT_THAT(writes(), ElementsAre(binding("q")));
}

TEST_F(BindingTest, ALaterPodOfTheSameNameIsBoundByItself) {
  node("a");
  complete();
  pod("p", "1");
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
  gone("p");
  pod("p", "2");
  accept();  // the binding of the first one
  ASSERT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(BindingTest, ABindingFollowsAsSoonAsTheWatchShowsTheOwnCondition) {
  node("a", "4", R"("taints":[{"key":"x","effect":"NoSchedule"}])");
  complete();
  pod("p", "3");
  server_.settle();
  server_.answer_object("p", revision_ + 2);
  node("a", "4", "", "MODIFIED");
  EXPECT_THAT(writes(), IsEmpty()) << "the watch of pods is behind";
  pod("p", "3", "", "MODIFIED",
      R"(,"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}])");
  EXPECT_THAT(writes(), ElementsAre(binding("p")));
}

TEST_F(BindingTest, APodThatIsBeingBoundCountsAgainstItsNode) {
  node("a");
  complete();
  pod("p", "3");
  pod("q", "3");
  EXPECT_THAT(writes(), ElementsAre(binding("p"), status("q")));
  accept();
  server_.answer_object("q", 1);
  EXPECT_THAT(writes(), IsEmpty()) << "bound, though no watch has shown it yet";
}

}  // namespace binding_test
}  // namespace muster::scheduler
