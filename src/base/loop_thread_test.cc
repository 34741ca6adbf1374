#include "base/loop_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace muster {
namespace loop_thread_test {

TEST(LoopThread, RunsTasksInTheirOrderOnAThreadOfItsOwn) {
  LoopThread thread;
  std::vector<int> order;
  std::promise<std::thread::id> where;
  thread.loop().post([&] { order.push_back(1); });  // before the start: it waits
  ASSERT_TRUE(thread.start());
  thread.loop().post([&] { order.push_back(2); });
  thread.loop().post([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(LoopThread, StopWaitsForTheTaskAtHandAndDropsTheRest) {
  auto held = std::make_shared<int>();
  bool ended = false, rest_ran = false;
  {
    LoopThread thread;
    std::promise<void> begun;
    thread.loop().post([&] {
      thread.loop().post([&, held] { rest_ran = true; });
      thread.loop().stop();  // as if stop() came while this task runs
      begun.set_value();
      std::this_thread::yield();
      ended = true;
    });
    ASSERT_TRUE(thread.start());
    begun.get_future().wait();
    thread.stop();
    EXPECT_TRUE(ended);
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_FALSE(rest_ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(LoopThread, WithoutAStartNothingRunsAndNobodyWaits) {
  bool ran = false;
  {
    LoopThread thread;
    thread.loop().post([&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace loop_thread_test
}  // namespace muster
