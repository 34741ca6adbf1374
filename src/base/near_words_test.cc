#include "base/near_words.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(DidYouMean, FindsASlipAndNothingElse) {
  EXPECT_EQ(did_you_mean("initialzer", {"dataset", "initializer"}), "initializer");
  EXPECT_EQ(did_you_mean("dependson", {"dependsOn", "name"}), "dependsOn");
  EXPECT_EQ(did_you_mean("zebra", {"dataset", "initializer"}), std::nullopt);
}

}  // namespace
}  // namespace muster
