#include "controllers/job/orphan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace orphan_test {

using testing::job;
using testing::pod;
using testing::PodText;

TEST(Orphan, LosesTheFinalizerThatNobodyWillTakeAway) {
  const Job running = job("");
  const Job complete = job("", R"("conditions":[{"type":"Complete","status":"True"}])");
  const Job failed = job("", R"("conditions":[{"type":"Failed","status":"True"}])");
  const Job foreign =
      job(R"("managedBy":"acme.io/x")", R"("conditions":[{"type":"Failed","status":"True"}])");
  struct Row {
    std::string_view name;
    PodText pod;
    const Job* owner;
    bool orphan;
  };
  const std::vector<Row> rows = {
      {"its Job is gone", pod("p"), nullptr, true},
      {"its Job is complete", pod("p"), &complete, true},
      {"its Job has failed", pod("p"), &failed, true},
      {"its Job goes on", pod("p"), &running, false},
      {"its Job is another's business", pod("p"), &foreign, false},
      {"nobody controls it", pod("p").uncontrolled(), nullptr, true},
      {"something else controls it", pod("p").owner("apps/v1", "ReplicaSet"), nullptr, false},
      {"another kind of Job controls it", pod("p").owner("batch.acme.io/v1", "Job"), nullptr,
       false},
      {"it has no finalizer", pod("p").untracked(), nullptr, false},
  };
  api::Resource pods;
  pods.plural = "pods";
  for (const Row& row : rows) {
    const Plan plan = plan_orphan({.job = nullptr, .pod = &pods}, row.pod, row.owner);
    EXPECT_EQ(plan.has_writes(), row.orphan) << row.name;
    if (!row.orphan || !plan.has_writes()) continue;
    EXPECT_EQ(plan.operations()[0].summary(), "patch pods d/p");
    EXPECT_EQ(plan.operations()[0].body.text(),
              R"({"metadata":{"$deleteFromPrimitiveList/finalizers":)"
              R"(["batch.kubernetes.io/job-tracking"],"uid":"u-p"}})");
  }
}

}  // namespace orphan_test
}  // namespace muster::controllers::job
