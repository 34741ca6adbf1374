#include "controllers/job/lag.h"

#include <gtest/gtest.h>

namespace muster::controllers::job {
namespace lag_test {

class Lag : public ::testing::Test {
 protected:
  Lag() {
    job_.mode = Job::Mode::kIndexed;
    job_.completions = 5;
    pod_.ref.uid = "u";
    pod_.ref.resource_version = "41";
    pod_.index = 3;
    pod_.phase = api::PodPhase::kSucceeded;
  }
  bool lags(store::Revision jobs) {
    const Pod* pods[] = {&pod_};
    return lags_behind(job_, pods, {.jobs = jobs, .pods = 50});
  }
  Job job_;
  Pod pod_;
};

TEST_F(Lag, APodThatWasLetGoIsInTheStatus) {
  EXPECT_TRUE(lags(40));
  job_.completed_indexes = "0,3";
  EXPECT_FALSE(lags(40));
}

TEST_F(Lag, WithoutIndexesByItsUid) {
  job_.mode = Job::Mode::kNonIndexed;
  EXPECT_TRUE(lags(40));
  job_.uncounted_succeeded = {"u"};
  EXPECT_FALSE(lags(40));
}

TEST_F(Lag, AJobThatIsAsNewAsThePodIsBelieved) { EXPECT_FALSE(lags(41)); }

TEST_F(Lag, PodsThatHaveNotSucceededOrAreHeldProveNothing) {
  pod_.tracked = true;
  EXPECT_FALSE(lags(40));
  pod_.tracked = false;
  pod_.phase = api::PodPhase::kFailed;
  EXPECT_FALSE(lags(40));
}

TEST_F(Lag, WhereKindsComeInOneOrderNoPodIsLookedAt) {
  const Pod* pods[] = {&pod_};
  pod_.ref.resource_version = "50";
  EXPECT_FALSE(lags_behind(job_, pods, {.jobs = 45, .pods = 45}));
  EXPECT_TRUE(lags_behind(job_, pods, {.jobs = 45, .pods = 0})) << "pods are being listed";
}

}  // namespace lag_test
}  // namespace muster::controllers::job
