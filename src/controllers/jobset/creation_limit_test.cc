#include "controllers/jobset/creation_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace creation_limit_test {

using ::testing::IsEmpty;

TEST(CreationLimit, CountsJobsThatHaveNotStarted) {
  const JobLimits limits{.waiting_of_set = 10, .waiting_of_all = 20, .waiting_in_any_case = 2};
  std::vector<Child> children(4);
  children[0].ready = 1;
  children[1].end = Child::End::kComplete;
  EXPECT_EQ(creation_limit(limits, pointers(children), 4).room, 8u);
  EXPECT_FALSE(creation_limit(limits, pointers(children), 4).of_all);
  EXPECT_EQ(creation_limit(limits, pointers(children), 17).room, 3u);
  EXPECT_TRUE(creation_limit(limits, pointers(children), 17).of_all);
  EXPECT_EQ(creation_limit(limits, pointers(children), 30).room, 0u);
  EXPECT_EQ(creation_limit(limits, {}, 30).room, 2u) << "a small set is never held back";
}

TEST(CreationLimit, JobsAheadOfThoseThatRunAreLimitedAndPeopleAreTold) {
  Cluster cluster;
  cluster.limits.waiting_of_set = 2;
  cluster.create(jobset({job("w", {.replicas = 4})}));
  cluster.settle();
  EXPECT_TRUE(cluster.has_job("js-w-1"));
  EXPECT_FALSE(cluster.has_job("js-w-2"));
  EXPECT_EQ(cluster.condition("muster.dev/Waiting"), "True JobLimit");
  EXPECT_EQ(cluster.message("muster.dev/Waiting"),
            "w has more jobs than are created ahead of those that run: at most 2 of a JobSet wait "
            "to start");
  EXPECT_EQ(cluster.last.look_again, std::nullopt) << "its own Jobs will bring it back";
  cluster.run("js-w-0");
  cluster.settle();
  EXPECT_TRUE(cluster.has_job("js-w-2"));
  EXPECT_FALSE(cluster.has_job("js-w-3"));
  cluster.run("js-w-1");
  cluster.settle();
  EXPECT_TRUE(cluster.has_job("js-w-3"));
  EXPECT_EQ(cluster.condition("muster.dev/Waiting"), "");
}

TEST(CreationLimit, AJobThatHoldsBackPodsIsTold) {
  Cluster cluster;
  cluster.create(jobset({job("w", {.replicas = 2})}));
  cluster.settle();
  cluster.hold_back_pods("js-w-1", true);
  cluster.settle();
  EXPECT_EQ(cluster.condition("muster.dev/Waiting"), "True PodLimit");
  EXPECT_EQ(cluster.message("muster.dev/Waiting"), "js-w-1: it has more pods");
  cluster.hold_back_pods("js-w-1", false);
  cluster.settle();
  EXPECT_EQ(cluster.condition("muster.dev/Waiting"), "");
}

TEST(CreationLimit, WhoWaitsForOthersToLeaveRoomLooksAgain) {
  Cluster cluster;
  cluster.limits = {.waiting_of_set = 5, .waiting_of_all = 0, .waiting_in_any_case = 1};
  cluster.create(jobset({job("w", {.replicas = 3})}));
  cluster.settle();
  EXPECT_FALSE(cluster.has_job("js-w-1"));
  EXPECT_THAT(cluster.message("muster.dev/Waiting"), ::testing::HasSubstr("of all JobSets"));
  EXPECT_THAT(cluster.pass(), IsEmpty());
  EXPECT_EQ(cluster.last.look_again, std::chrono::seconds(1));
}

}  // namespace creation_limit_test
}  // namespace muster::controllers::jobset
