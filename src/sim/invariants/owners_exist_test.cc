#include "sim/invariants/testing.h"

namespace muster::sim {
namespace owners_exist_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OwnersExistTest : public RuleTest {
 protected:
  OwnersExistTest() : RuleTest(make_owners_exist()) {}
};

TEST_F(OwnersExistTest, NothingOutlivesItsOwner) {
  const auto orphan = std::make_shared<const store::Object>(job("a", ""), 1);
  const auto owner = std::make_shared<const store::Object>(set(), 2);
  invariants_.check_at_rest({orphan, owner});
  EXPECT_THAT(violations(), IsEmpty());
  invariants_.check_at_rest({orphan});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("has outlived its owner")));
}

}  // namespace owners_exist_test
}  // namespace muster::sim
