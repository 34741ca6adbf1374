#include "engine/heap_trim.h"

#include <gtest/gtest.h>

namespace muster::engine {
namespace heap_trim_test {

TEST(TrimDecision, ATrimIsDueWhenMuchMoreIsFreeThanAfterTheLastOne) {
  constexpr std::size_t kStep = TrimDecision::kWorthwhile;
  TrimDecision decision;
  EXPECT_FALSE(decision.is_due(kStep - 1));
  EXPECT_TRUE(decision.is_due(kStep));
  EXPECT_FALSE(decision.is_due(kStep)) << "what was trimmed is still counted as free";
  EXPECT_FALSE(decision.is_due(2 * kStep - 1));
  EXPECT_TRUE(decision.is_due(2 * kStep));
  EXPECT_FALSE(decision.is_due(0)) << "it is used again";
  EXPECT_TRUE(decision.is_due(kStep)) << "and free again";
}

}  // namespace heap_trim_test
}  // namespace muster::engine
