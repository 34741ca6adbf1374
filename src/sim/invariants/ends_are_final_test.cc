#include "sim/invariants/testing.h"

namespace muster::sim {
namespace ends_are_final_test {

using testing::ElementsAre;
using testing::HasSubstr;

class EndsAreFinalTest : public RuleTest {
 protected:
  EndsAreFinalTest() : RuleTest(make_ends_are_final()) {}
};

TEST_F(EndsAreFinalTest, AnEndIsForEver) {
  took(set("", R"("conditions":[{"type":"Completed","status":"True"}])"));
  took(set());
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("was Completed and is no longer")));
}

TEST_F(EndsAreFinalTest, AFinishedJobStaysFinished) {
  took(set());
  took(job("a", kCompleteCondition));
  took(job("a", ""));
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("was finished and is no longer")));
}

}  // namespace ends_are_final_test
}  // namespace muster::sim
