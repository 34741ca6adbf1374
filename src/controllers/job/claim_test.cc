#include "controllers/job/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace claim_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::names;
using testing::pod;
using testing::pointers;

TEST(Claim, MatchingPodsAreKeptAdoptedOrReleased) {
  const std::vector<Pod> controlled = {pod("own"), pod("strayed").label("job", "other")};
  const std::vector<Pod> uncontrolled = {pod("lost").uncontrolled(),
                                         pod("foreign").uncontrolled().label("job", "other"),
                                         pod("going").uncontrolled().deleted()};
  const Claim kept = claim(job(""), pointers(controlled), pointers(uncontrolled));
  EXPECT_THAT(names(kept.pods), ElementsAre("own"));
  EXPECT_THAT(names(kept.adopted), ElementsAre("lost"));
  EXPECT_THAT(names(kept.released), ElementsAre("strayed"));
}

TEST(Claim, ASelectorOfTheJobsUidTakesThePodsThatWearIt) {
  const Job by_uid = controllers::testing::read_as(
      read_job, R"({"metadata":{"name":"j","namespace":"d","uid":"u-j"},"spec":{"selector":
          {"matchLabels":{"batch.kubernetes.io/controller-uid":"u-j"}}}})");
  ASSERT_TRUE(by_uid.selects_by_uid);
  EXPECT_FALSE(testing::job("").selects_by_uid);
  constexpr std::string_view kUid = "batch.kubernetes.io/controller-uid";
  const std::vector<Pod> controlled = {pod("own").label(kUid, "u-j"),
                                       pod("strayed").label(kUid, "u-k"), pod("bare")};
  const std::vector<Pod> uncontrolled = {pod("lost").uncontrolled().label(kUid, "u-j")};
  const Claim kept = claim(by_uid, pointers(controlled), pointers(uncontrolled));
  EXPECT_THAT(names(kept.pods), ElementsAre("own"));
  EXPECT_THAT(names(kept.adopted), ElementsAre("lost"));
  EXPECT_THAT(names(kept.released), ElementsAre("strayed", "bare"));
}

TEST(Claim, AJobThatGoesNeitherAdoptsNorReleases) {
  const Job going = job("", "", R"("deletionTimestamp":"2026-03-01T00:00:00Z")");
  const std::vector<Pod> controlled = {pod("own"), pod("strayed").label("job", "other")};
  const std::vector<Pod> uncontrolled = {pod("lost").uncontrolled()};
  const Claim kept = claim(going, pointers(controlled), pointers(uncontrolled));
  EXPECT_THAT(names(kept.pods), ElementsAre("own"));
  EXPECT_THAT(kept.adopted, IsEmpty());
  EXPECT_THAT(kept.released, IsEmpty());
}

}  // namespace claim_test
}  // namespace muster::controllers::job
