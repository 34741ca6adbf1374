#include "sim/invariants/testing.h"

namespace muster::sim {
namespace one_pod_per_index_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OnePodPerIndexTest : public RuleTest {
 protected:
  OnePodPerIndexTest() : RuleTest(make_one_pod_per_index()) {}
};

TEST_F(OnePodPerIndexTest, AnIndexHasOneLivePod) {
  took(pod("p", "0", "Running"));
  took(pod("other", "1", "Running"));
  EXPECT_THAT(violations(), IsEmpty());
  took(pod("twin", "0", "Pending"));
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("2 pods of index 0 live at once")));
}

TEST_F(OnePodPerIndexTest, AnEndedOrDeletedPodMakesRoom) {
  took(pod("p", "0", "Running"));
  took(pod("p", "0", "Failed"));
  took(pod("q", "0", "Running"));
  took(pod("q", "0", "Running"), store::Event::Type::kDeleted);
  took(pod("r", "0", "Running"));
  EXPECT_THAT(violations(), IsEmpty());
}

}  // namespace one_pod_per_index_test
}  // namespace muster::sim
