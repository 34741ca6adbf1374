#include "cli/verbs/removal.h"

#include <gtest/gtest.h>

#include "cli/input/kinds.h"

namespace muster::cli {
namespace removal_test {

TEST(Removal, GoesAsDeepAsIsWaitedFor) {
  const api::Resource& maps = *api::Registry::builtin().find("", "v1", "configmaps");
  const api::Resource& deployments = *api::Registry::builtin().find("apps", "v1", "deployments");
  EXPECT_EQ(propagation_policy({}, job_sets()), "Foreground");
  EXPECT_EQ(propagation_policy({}, jobs()), "Foreground");
  EXPECT_EQ(propagation_policy({}, deployments), "Foreground");
  EXPECT_EQ(propagation_policy({}, maps), "Background") << "needs no collector to be gone";
  EXPECT_EQ(propagation_policy({}, pods()), "Background");
  EXPECT_EQ(propagation_policy({.wait = false}, job_sets()), "Background");
}

TEST(Removal, DoesWhatCascadeSays) {
  EXPECT_EQ(propagation_policy({.cascade = "background"}, job_sets()), "Background");
  EXPECT_EQ(propagation_policy({.cascade = "orphan"}, job_sets()), "Orphan");
  EXPECT_EQ(propagation_policy({.cascade = "foreground", .wait = false}, job_sets()), "Foreground");
}

}  // namespace removal_test
}  // namespace muster::cli
