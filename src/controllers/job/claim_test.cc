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
