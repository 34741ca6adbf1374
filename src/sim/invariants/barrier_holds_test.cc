#include "sim/invariants/testing.h"

namespace muster::sim {
namespace barrier_holds_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BarrierHoldsTest : public RuleTest {
 protected:
  BarrierHoldsTest() : RuleTest(make_barrier_holds()) {}
};

TEST_F(BarrierHoldsTest, NobodyPassesABarrierBeforeAllHaveStarted) {
  constexpr std::string_view kBarrier = R"("muster.dev/barrier":"s-group-scheduling/started-0")";
  constexpr std::string_view kWaits =
      R"(,"initContainerStatuses":[{"name":"group-scheduling-init","state":{"running":{}}}])";
  std::string group = set();
  group.replace(group.find(R"("replicatedJobs")"), 0, R"("groupSchedulingConfig":{},)");
  took(group);
  took(pod("p", "0", "Pending", kBarrier, kWaits));
  EXPECT_THAT(violations(), IsEmpty());
  took(pod("p", "0", "Running", kBarrier));
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("has passed the barrier s-group-scheduling/started-0 when 1 "
                                    "of 2 pods had started")));
}

}  // namespace barrier_holds_test
}  // namespace muster::sim
