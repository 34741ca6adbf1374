#include "base/near_words.h"

#include <gtest/gtest.h>

namespace muster {
namespace near_words_test {

TEST(DidYouMean, FindsASlipAndNothingElse) {
  EXPECT_EQ(did_you_mean("initialzer", {"dataset", "initializer"}), "initializer");
  EXPECT_EQ(did_you_mean("dependson", {"dependsOn", "name"}), "dependsOn");
  EXPECT_EQ(did_you_mean("zebra", {"dataset", "initializer"}), std::nullopt);
}

}  // namespace near_words_test
}  // namespace muster
