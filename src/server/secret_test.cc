#include "server/secret.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace secret_test {

TEST(EqualInConstantTime, IsEquality) {
  EXPECT_TRUE(equal_in_constant_time("token", "token"));
  EXPECT_FALSE(equal_in_constant_time("token", "tokem"));
  EXPECT_FALSE(equal_in_constant_time("token", "token "));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace secret_test
}  // namespace muster::server
