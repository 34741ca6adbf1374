#include "base/thread_time.h"

#include <gtest/gtest.h>

namespace muster {
namespace thread_time_test {

TEST(ThreadTime, GrowsWithWork) {
  const Duration before = thread_time(real_clock());
  while (thread_time(real_clock()) == before) {
  }
  EXPECT_GT(thread_time(real_clock()), before);
}

TEST(ThreadTime, StandsStillWhereTimeIsVirtual) {
  const ManualClock clock{Time()};
  EXPECT_EQ(thread_time(clock), Duration::zero());
}

}  // namespace thread_time_test
}  // namespace muster
