#include "base/clock.h"

#include <gtest/gtest.h>

namespace muster {
namespace clock_test {

using namespace std::chrono_literals;

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock{Time(5s)};
  EXPECT_EQ(clock.now(), Time(5s));
  clock.advance(250ms);
  EXPECT_EQ(clock.now(), Time(5250ms));
}

TEST(RealClock, LiesInThisCentury) {
  EXPECT_GT(real_clock().now(), Time(std::chrono::sys_days(std::chrono::year(2024) / 1 / 1)));
  EXPECT_LT(real_clock().now(), Time(std::chrono::sys_days(std::chrono::year(2100) / 1 / 1)));
}

TEST(MonotonicNow, NeverGoesBack) {
  const Duration before = monotonic_now();
  EXPECT_LE(before, monotonic_now());
}

}  // namespace clock_test
}  // namespace muster
