#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/loop.h"

namespace muster {
namespace lifetime_test {

struct Counter {
  explicit Counter(int& its_calls) : calls(its_calls) {}
  Task counting() {
    return lifetime.guard([this] { ++calls; });
  }

  int& calls;
  Lifetime lifetime;
};

TEST(Lifetime, CallbacksAreMadeWhileTheOwnerLives) {
  int calls = 0;
  Counter counter(calls);
  Task task = counter.counting();
  task();
  task();
  EXPECT_EQ(calls, 2);
}

TEST(Lifetime, CallbacksDoNothingAfterTheirOwnerIsGone) {
  int calls = 0;
  auto counter = std::make_unique<Counter>(calls);
  Task task = counter->counting();
  counter.reset();
  task();
  EXPECT_EQ(calls, 0);
}

TEST(Lifetime, ATimerOutlivesItsOwner) {
  const auto loop = make_virtual_loop(Time{});
  int calls = 0;
  auto counter = std::make_unique<Counter>(calls);
  loop->after(std::chrono::seconds(1), counter->counting());
  loop->after(std::chrono::seconds(3), counter->counting());
  loop->after(std::chrono::seconds(2), [&counter] { counter.reset(); });
  loop->run();
  EXPECT_EQ(calls, 1);
}

TEST(Lifetime, ArgumentsAndTheCallbacksOwnStatePassThrough) {
  const Lifetime lifetime;
  std::string seen;
  std::move_only_function<void(std::unique_ptr<std::string>, const std::string&)> take =
      lifetime.guard([&seen, before = std::string()](std::unique_ptr<std::string> text,
                                                     const std::string& more) mutable {
        before += *text + more;
        seen = before;
      });
  take(std::make_unique<std::string>("a"), "b");
  take(std::make_unique<std::string>("c"), "d");
  EXPECT_EQ(seen, "abcd");
}

TEST(Lifetime, EndsEarlierIfAsked) {
  int calls = 0;
  Counter counter(calls);
  Task task = counter.counting();
  counter.lifetime.end();
  task();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(counter.lifetime.watch().ended());
}

TEST(Lifetime, ACallbackMayEndItsOwner) {
  struct Owner {
    Lifetime lifetime;
  };
  auto owner = std::make_unique<Owner>();
  const Lifetime::Watch watch = owner->lifetime.watch();
  Task task = owner->lifetime.guard([&owner] { owner.reset(); });
  EXPECT_FALSE(watch.ended());
  task();
  EXPECT_TRUE(watch.ended());
  task();
}

}  // namespace lifetime_test
}  // namespace muster
