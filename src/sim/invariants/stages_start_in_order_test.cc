#include "sim/invariants/testing.h"

namespace muster::sim {
namespace stages_start_in_order_test {

using testing::ElementsAre;
using testing::IsEmpty;

class StagesStartInOrderTest : public RuleTest {
 protected:
  StagesStartInOrderTest() : RuleTest(make_stages_start_in_order()) {}
};

constexpr std::string_view kDependsOnReady = R"(,"dependsOn":[{"name":"a","status":"Ready"}])";
constexpr std::string_view kDependsOnComplete =
    R"(,"dependsOn":[{"name":"a","status":"Complete"}])";

TEST_F(StagesStartInOrderTest, ADependentMayStartWhenItsDependencyHas) {
  took(set(kDependsOnReady));
  took(job("a", R"("ready":1)"));
  took(job("a", R"("ready":0)"));  // what was ready once has started
  took(job("b", ""));
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(StagesStartInOrderTest, ADependentThatStartsTooEarlyIsFound) {
  took(set(kDependsOnReady));
  took(job("a", ""));
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was ready"));
}

TEST_F(StagesStartInOrderTest, ReadyIsNotComplete) {
  took(set(kDependsOnComplete));
  took(job("a", R"("ready":1)"));
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was complete"));
}

TEST_F(StagesStartInOrderTest, EachAttemptHasItsOwnSequence) {
  took(set(kDependsOnComplete));
  took(job("a", kCompleteCondition));
  took(job("b", "", 1));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a was complete"));
}

TEST_F(StagesStartInOrderTest, TheStartupOrderIsKept) {
  std::string in_order = set();
  in_order.replace(in_order.find(R"("replicatedJobs")"), 0,
                   R"("startupPolicy":{"startupPolicyOrder":"InOrder"},)");
  took(in_order);
  took(job("b", ""));
  EXPECT_THAT(violations(), ElementsAre("job s-b-0 began before a had started"));
}

}  // namespace stages_start_in_order_test
}  // namespace muster::sim
