#include "base/retry_delay.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster {
namespace retry_delay_test {

using std::chrono::seconds;

TEST(RetryDelay, DoublesUpToTheLongest) {
  EXPECT_EQ(retry_delay(seconds(2), seconds(15), 0), seconds(2));
  EXPECT_EQ(retry_delay(seconds(2), seconds(15), 1), seconds(4));
  EXPECT_EQ(retry_delay(seconds(2), seconds(15), 2), seconds(8));
  EXPECT_EQ(retry_delay(seconds(2), seconds(15), 3), seconds(15));
  EXPECT_EQ(retry_delay(seconds(2), seconds(15), std::numeric_limits<int>::max()), seconds(15));
  EXPECT_EQ(retry_delay(seconds(2), seconds(1), 0), seconds(1));
}

}  // namespace retry_delay_test
}  // namespace muster
