#include "base/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>

#include "base/paced_loop.h"
#include "base/task_queue.h"

namespace muster {
namespace loop_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Story {
 public:
  auto say(std::string word) {
    return [this, word = std::move(word)] { told.push_back(word); };
  }
  std::vector<std::string> told;
};

TEST(VirtualLoop, TasksRunInOrderAndMayPostMore) {
  const auto loop = make_virtual_loop(Time());
  Story story;
  loop->post([&] {
    story.told.push_back("a");
    loop->post(story.say("c"));
  });
  loop->post(story.say("b"));
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("a", "b", "c"));
}

TEST(VirtualLoop, TimeJumpsFromTimerToTimer) {
  const auto loop = make_virtual_loop(Time(100s));
  std::vector<Time> seen;
  loop->after(24h, [&] { seen.push_back(loop->clock().now()); });
  loop->after(1s, [&] {
    seen.push_back(loop->clock().now());
    loop->after(2s, [&] { seen.push_back(loop->clock().now()); });
  });
  loop->run();
  EXPECT_THAT(seen, ElementsAre(Time(101s), Time(103s), Time(100s + 24h)));
}

TEST(VirtualLoop, AClockThatIsSetMovesNoTimer) {
  for (const Duration jump : {Duration(24h), Duration(-24h)}) {
    const auto loop = make_virtual_loop(Time(100h));
    const Duration begin = loop->monotonic();
    std::vector<Duration> due;
    loop->after(10s, [&] { due.push_back(loop->monotonic() - begin); });
    loop->run_for(4s);
    loop->set_clock(jump);
    EXPECT_EQ(loop->clock().now(), Time(100h + 4s) + jump);
    EXPECT_EQ(loop->monotonic() - begin, Duration(4s));
    loop->run_for(5s);
    EXPECT_THAT(due, IsEmpty());
    loop->run();
    EXPECT_THAT(due, ElementsAre(Duration(10s)));
    EXPECT_EQ(loop->clock().now(), Time(100h + 10s) + jump);
  }
}

TEST(VirtualLoop, TimersOfOneInstantRunInTheOrderSet) {
  const auto loop = make_virtual_loop(Time());
  Story story;
  for (const char* word : {"a", "b", "c"}) loop->after(5s, story.say(word));
  loop->after(-5s, story.say("now"));
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("now", "a", "b", "c"));
}

TEST(VirtualLoop, CancelledTimersDoNotRun) {
  const auto loop = make_virtual_loop(Time());
  Story story;
  const TimerId gone = loop->after(5s, story.say("gone"));
  loop->after(1s, story.say("kept"));
  loop->cancel(gone);
  loop->cancel(gone);
  loop->cancel(TimerId::kNone);
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("kept"));
  EXPECT_EQ(loop->clock().now(), Time(1s));
}

TEST(VirtualLoop, RunForStandsAtTheEndOfTheSpan) {
  const auto loop = make_virtual_loop(Time());
  Story story;
  loop->after(10s, story.say("inside"));
  loop->after(10s + 1us, story.say("outside"));
  loop->run_for(10s);
  EXPECT_THAT(story.told, ElementsAre("inside"));
  EXPECT_EQ(loop->clock().now(), Time(10s));
  loop->run_for(5s);
  EXPECT_THAT(story.told, ElementsAre("inside", "outside"));
  EXPECT_EQ(loop->clock().now(), Time(15s));
}

TEST(VirtualLoop, StopKeepsTheRestForTheNextRun) {
  const auto loop = make_virtual_loop(Time());
  Story story;
  loop->after(1s, [&] { loop->stop(); });
  loop->after(2s, story.say("later"));
  loop->run_for(10s);
  EXPECT_THAT(story.told, IsEmpty());
  EXPECT_EQ(loop->clock().now(), Time(1s));
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("later"));
}

TEST(VirtualLoop, EndlessDelayIsNoOverflow) {
  const auto loop = make_virtual_loop(Time(1s));
  Story story;
  loop->after(Duration::max(), story.say("doomsday"));
  loop->run_for(24h);
  EXPECT_THAT(story.told, IsEmpty());
}

TEST(RealLoop, RunsTasksTimersAndStops) {
  for (const auto& loop : {make_real_loop(), make_paced_loop(5ms)}) {
    Story story;
    loop->after(1ms, [&] {
      story.told.push_back("timer");
      loop->stop();
    });
    loop->post(story.say("task"));
    loop->run();
    EXPECT_THAT(story.told, ElementsAre("task", "timer"));
  }
}

TEST(PacedLoop, RoundsAreKeptApart) {
  const auto loop = make_paced_loop(20ms);
  const auto begin = std::chrono::steady_clock::now();
  int rounds = 0;
  std::function<void()> again = [&] { ++rounds < 4 ? loop->post(again) : loop->stop(); };
  loop->post(again);
  loop->run();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);
}

// As a request whose answer nobody waits for any more: it still tries to answer.
class PostsWhenItGoes {
 public:
  explicit PostsWhenItGoes(Loop& loop) : loop_(&loop) {}
  PostsWhenItGoes(PostsWhenItGoes&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
  ~PostsWhenItGoes() {
    if (loop_ == nullptr) return;
    for (int i = 0; i < 100; ++i) loop_->post([] {});
    loop_->cancel(loop_->after(1h, [] {}));
    loop_->after(1h, [] {});
  }
  void operator()() const {}

 private:
  Loop* loop_;
};

TEST(Loops, WhatTheyDropAtTheirEndMayPostToThem) {
  std::array<std::unique_ptr<Loop>, 2> loops = {make_real_loop(), make_virtual_loop(Time())};
  for (auto& loop : loops) {
    loop->post([&] { loop->stop(); });
    loop->post(PostsWhenItGoes(*loop));  // taken up, and not yet run
    loop->run();
    loop->post(PostsWhenItGoes(*loop));
    loop->after(1h, PostsWhenItGoes(*loop));
    loop.reset();
  }
}

TEST(RealLoop, StopBeforeRunIsNotLost) {
  const auto loop = make_real_loop();
  Story story;
  loop->post(story.say("later"));
  loop->stop();
  loop->run();
  EXPECT_THAT(story.told, IsEmpty());
  loop->post([&] { loop->stop(); });
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("later"));
}

TEST(RealLoop, StopInTheMiddleOfABatchKeepsTheRest) {
  const auto loop = make_real_loop();
  Story story;
  loop->post([&] { loop->stop(); });
  loop->post(story.say("second"));
  loop->run();
  EXPECT_THAT(story.told, IsEmpty());
  loop->post([&] { loop->stop(); });
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("second"));
}

TEST(RealLoop, OtherThreadsPostInOrder) {
  const auto loop = make_real_loop();
  std::vector<int> got;
  std::thread poster([&] {
    for (int i = 0; i < 1000; ++i) loop->post([&got, i] { got.push_back(i); });
    loop->post([&] { loop->stop(); });
  });
  loop->run();
  poster.join();
  ASSERT_EQ(got.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(got));
}

TEST(RealLoop, ShortTimersDoNotStarveTasks) {
  const auto loop = make_real_loop();
  int rounds = 0;
  std::function<void()> again = [&] {
    if (++rounds == 3) loop->post([&] { loop->stop(); });
    loop->after(Duration::zero(), again);
  };
  loop->after(Duration::zero(), again);
  loop->run();
  EXPECT_LE(rounds, 4);
}

class PipeTest : public testing::Test {
 protected:
  PipeTest() { EXPECT_EQ(pipe(ends_), 0); }
  ~PipeTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  void put(char c) { EXPECT_EQ(write(ends_[1], &c, 1), 1); }
  char take() {
    char c = 0;
    EXPECT_EQ(read(ends_[0], &c, 1), 1);
    return c;
  }
  int ends_[2];
};

TEST_F(PipeTest, WatchIsLevelTriggered) {
  const auto loop = make_real_loop();
  std::string got;
  loop->watch_readable(ends_[0], [&] {
    got += take();
    if (got.size() == 3) loop->stop();
  });
  for (const char c : {'a', 'b', 'c'}) put(c);
  loop->run();
  EXPECT_EQ(got, "abc");
}

TEST_F(PipeTest, WatcherMayUnwatchItself) {
  const auto loop = make_real_loop();
  int calls = 0;
  loop->watch_readable(ends_[0], [&] {
    ++calls;
    loop->unwatch(ends_[0]);
    loop->after(2ms, [&] { loop->stop(); });
  });
  put('a');
  loop->run();
  EXPECT_EQ(calls, 1);
}

TEST_F(PipeTest, WatchCanBeTakenUpAgain) {
  const auto loop = make_real_loop();
  Story story;
  loop->watch_readable(ends_[0], story.say("first"));
  loop->unwatch(ends_[0]);
  loop->watch_readable(ends_[0], [&] {
    story.told.push_back("second");
    loop->stop();
  });
  put('a');
  loop->run();
  EXPECT_THAT(story.told, ElementsAre("second"));
}

TEST(TimerQueue, TakesOnlyWhatIsDueAndWasSetBefore) {
  TimerQueue timers;
  Story story;
  timers.add(2s, story.say("b"));
  timers.add(1s, story.say("a"));
  const std::uint64_t limit = timers.next_id();
  timers.add(0s, story.say("late"));
  EXPECT_EQ(timers.next_deadline(), Duration(0s));
  timers.take_due(1s, limit)();
  EXPECT_FALSE(timers.take_due(1s, limit));
  timers.take_due(1s, timers.next_id())();
  EXPECT_THAT(story.told, ElementsAre("a", "late"));
  EXPECT_EQ(timers.next_deadline(), Duration(2s));
}

}  // namespace loop_test
}  // namespace muster
