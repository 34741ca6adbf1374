#include "sim/invariants/testing.h"

namespace muster::sim {
namespace restarts_are_counted_test {

using testing::ElementsAre;
using testing::HasSubstr;

class RestartsAreCountedTest : public RuleTest {
 protected:
  RestartsAreCountedTest() : RuleTest(make_restarts_are_counted()) {}
};

TEST_F(RestartsAreCountedTest, RestartsAreCountedOneByOneAndWithinTheirLimit) {
  took(set("", R"("restarts":1)"));
  took(set("", R"("restarts":0)"));
  took(set("", R"("restarts":2)"));
  took(set("", R"("restarts":3,"restartsCountTowardsMax":1)"));
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("restarts went back"), HasSubstr("restarts skipped an attempt"),
                          HasSubstr("1 counted restarts, 0 are allowed")));
}

}  // namespace restarts_are_counted_test
}  // namespace muster::sim
