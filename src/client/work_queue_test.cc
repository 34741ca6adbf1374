#include "client/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::client {
namespace work_queue_test {

using testing::ElementsAre;
using testing::IsEmpty;

class WorkQueueTest : public testing::Test {
 protected:
  void work(const QueueKey& key) {
    order_.push_back(key.ns + "/" + key.name);
    if (during_) during_(key);
    if (finish_at_once_) queue_.done(key);
  }
  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  std::vector<std::string> order_;
  std::function<void(const QueueKey&)> during_;
  bool finish_at_once_ = true;
  WorkQueue queue_{*loop_, 1, [this](const QueueKey& key) { work(key); }};
};

TEST_F(WorkQueueTest, AKeyThatWasAddedTwiceComesOnce) {
  queue_.add({"a", "1"});
  queue_.add({"a", "1"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("a/1"));
}

TEST_F(WorkQueueTest, NamespacesTakeTurns) {
  for (const char* name : {"1", "2", "3"}) queue_.add({"busy", name});
  queue_.add({"quiet", "1"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("busy/1", "quiet/1", "busy/2", "busy/3"));
}

TEST_F(WorkQueueTest, GroupsOfOneNamespaceTakeTurns) {
  WorkQueue queue(
      *loop_, 1,
      [&](const QueueKey& key) {
        order_.push_back(key.ns + "/" + key.name);
        queue.done(key);
      },
      WorkQueue::kLongestBackoff, [](const QueueKey& key) { return key.name.substr(0, 1); });
  for (const char* name : {"b1", "b2", "b3"}) queue.add({"n", name});
  for (const char* name : {"a1", "c1"}) queue.add({"n", name});
  queue.add({"other", "b1"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("n/a1", "other/b1", "n/b1", "n/c1", "n/b2", "n/b3"));
}

TEST_F(WorkQueueTest, AKeyAddedWhileItIsWorkedOnComesAgain) {
  during_ = [this](const QueueKey& key) {
    if (order_.size() == 1) queue_.add(key);
  };
  queue_.add({"a", "1"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("a/1", "a/1"));
}

TEST_F(WorkQueueTest, WaitsForDoneBeforeTheNextKey) {
  finish_at_once_ = false;
  queue_.add({"a", "1"});
  queue_.add({"a", "2"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("a/1"));
  queue_.done({"a", "1"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("a/1", "a/2"));
}

TEST_F(WorkQueueTest, FailuresComeBackLaterEachTime) {
  std::vector<Time> times;
  during_ = [&](const QueueKey& key) {
    times.push_back(loop_->clock().now());
    if (times.size() < 4) queue_.add_failed(key);
  };
  queue_.add({"a", "1"});
  loop_->run();
  using std::chrono::milliseconds;
  EXPECT_THAT(times, ElementsAre(Time{}, Time{milliseconds(5)}, Time{milliseconds(15)},
                                 Time{milliseconds(35)}));
}

TEST_F(WorkQueueTest, TheEarliestWishCounts) {
  queue_.add_after({"a", "1"}, std::chrono::seconds(10));
  queue_.add_after({"a", "1"}, std::chrono::seconds(1));
  queue_.add_after({"a", "1"}, std::chrono::seconds(5));
  loop_->run_for(std::chrono::seconds(2));
  EXPECT_THAT(order_, ElementsAre("a/1"));
  order_.clear();
  loop_->run();
  EXPECT_THAT(order_, IsEmpty());
}

TEST_F(WorkQueueTest, AKeyThatIsHeldOffWaitsWhateverComes) {
  std::vector<Time> times;
  during_ = [&](const QueueKey& key) {
    times.push_back(loop_->clock().now());
    if (times.size() > 1) return;
    queue_.hold_off(key, std::chrono::seconds(3));
    queue_.add(key);
    queue_.add_after(key, std::chrono::seconds(1));
  };
  queue_.add({"a", "1"});
  loop_->run_for(std::chrono::seconds(2));
  queue_.add({"a", "1"});
  queue_.add({"a", "2"});
  loop_->run();
  EXPECT_THAT(order_, ElementsAre("a/1", "a/2", "a/1"));
  EXPECT_EQ(times.back(), Time{std::chrono::seconds(3)});
}

TEST_F(WorkQueueTest, AClockThatJumpsByADayBringsNoKeySoonerOrLater) {
  for (const Duration jump : {Duration(std::chrono::days(1)), Duration(-std::chrono::days(1))}) {
    const Duration begin = loop_->monotonic();
    std::vector<Duration> times;
    during_ = [&](const QueueKey&) { times.push_back(loop_->monotonic() - begin); };
    queue_.hold_off({"a", "held"}, std::chrono::seconds(3));
    queue_.add_after({"a", "wish"}, std::chrono::seconds(5));
    loop_->run_for(std::chrono::seconds(1));
    loop_->set_clock(jump);
    queue_.add({"a", "held"});
    queue_.add_after({"a", "wish"}, std::chrono::seconds(1));
    loop_->run();
    EXPECT_THAT(std::exchange(order_, {}), ElementsAre("a/wish", "a/held"));
    EXPECT_THAT(times, ElementsAre(std::chrono::seconds(2), std::chrono::seconds(3)));
  }
}

TEST_F(WorkQueueTest, AfterTheSpanAKeyIsServedAtOnceAgain) {
  queue_.hold_off({"a", "1"}, std::chrono::seconds(3));
  loop_->run_for(std::chrono::seconds(3));
  queue_.add({"a", "1"});
  loop_->run_for(Duration::zero());
  EXPECT_THAT(order_, ElementsAre("a/1"));
}

}  // namespace work_queue_test
}  // namespace muster::client
