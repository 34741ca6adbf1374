// Many threads at once; run it with the tsan preset as well.
// R6: no update is lost. R5: every watcher sees every change once and in order, also when it is
// slow.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/rng.h"
#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace concurrency_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests

constexpr int kWriters = 64;
constexpr int kIncrementsEach = 25;
constexpr int kCounters = 8;
constexpr int kWatchers = 16;
constexpr int kReaders = 4;

std::uint64_t value_of(const Object& object) {
  const std::string& text = object.bytes();
  return std::stoull(text.substr(text.rfind('"', text.size() - 3) + 1));
}

// Increments a counter by reading, adding one and writing, until no one came between.
void increment(Store& store, const Key& key) {
  while (true) {
    const ObjectPtr current = store.snapshot()->get(key);
    const std::uint64_t value = current == nullptr ? 0 : value_of(*current);
    const Revision expected = current == nullptr ? 0 : current->revision();
    const auto written = write_and_wait(store, put_of(key, std::to_string(value + 1), expected));
    if (written) return;
    const Code code = written.error().code;
    ASSERT_TRUE(code == Code::kConflict || code == Code::kAlreadyExists) << written.error().message;
  }
}

// Sleeps until it is woken, reads a few events, and checks that each continues the one before.
class Watcher {
 public:
  Watcher(Store& store, std::uint64_t seed) : store_(store), rng_(seed) {}

  void run_until(std::uint64_t total) {
    subscribe(kFirstRevision);
    while (seen_ < total) {
      auto events = subscription_->poll(1 + rng_.below(20));
      ASSERT_TRUE(events) << events.error().message;
      for (const Event& event : *events) take(event);
      if (rng_.chance(0.05)) subscribe(subscription_->position());  // a broken connection
      if (events->empty() && seen_ < total) sleep_until_woken();
    }
  }

 private:
  struct Bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool ringing = false;
  };

  void subscribe(Revision after) {
    auto subscription = store_.watch(kPods, after, [bell = bell_] {
      const std::lock_guard lock(bell->mutex);
      bell->ringing = true;
      bell->rung.notify_one();
    });
    ASSERT_TRUE(subscription);
    subscription_ = std::move(*subscription);
    const std::lock_guard lock(bell_->mutex);
    bell_->ringing = true;  // the first poll needs no wake
  }
  void sleep_until_woken() {
    std::unique_lock lock(bell_->mutex);
    bell_->rung.wait(lock, [&] { return bell_->ringing; });
    bell_->ringing = false;
  }
  void take(const Event& event) {
    ASSERT_GT(event.revision, last_);
    last_ = event.revision;
    std::uint64_t& known = values_[event.object->path()];
    ASSERT_EQ(value_of(*event.object), known + 1) << event.object->path();
    ASSERT_EQ(event.previous == nullptr ? 0 : value_of(*event.previous), known);
    known += 1;
    ++seen_;
    const ObjectPtr now = store_.snapshot()->get(pod(std::string(event.object->name())));
    ASSERT_NE(now, nullptr);
    ASSERT_GE(now->revision(), event.revision) << "an event was seen before its effect";
  }

  Store& store_;
  Rng rng_;
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::unique_ptr<Subscription> subscription_;
  std::map<std::string, std::uint64_t> values_;
  Revision last_ = 0;
  std::uint64_t seen_ = 0;
};

// Snapshots are whole: the sum of the counters is the number of writes, which is the revision.
void read_until(Store& store, std::uint64_t total) {
  Revision last = 0;
  while (last < kFirstRevision + total) {
    const SnapshotPtr snapshot = store.snapshot();
    ASSERT_GE(snapshot->revision(), last);
    last = snapshot->revision();
    std::uint64_t sum = 0;
    snapshot->scan(kPods, {}, [&](const ObjectPtr& o) { return sum += value_of(*o), true; });
    ASSERT_EQ(sum, last - kFirstRevision);
    const Revision before = kFirstRevision + (last - kFirstRevision) / 2;
    if (const auto earlier = store.snapshot_at(kPods, before)) {
      sum = 0;
      (*earlier)->scan(kPods, {}, [&](const ObjectPtr& o) { return sum += value_of(*o), true; });
      ASSERT_EQ(sum, before - kFirstRevision);
    }
    std::this_thread::yield();
  }
}

void hammer(Store& store) {
  constexpr std::uint64_t kTotal = std::uint64_t{kWriters} * kIncrementsEach;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kWatchers; ++i) {
    threads.emplace_back([&store, i] { Watcher(store, i).run_until(kTotal); });
  }
  for (int i = 0; i < kReaders; ++i) threads.emplace_back([&] { read_until(store, kTotal); });
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&store, i] {
      for (int n = 0; n < kIncrementsEach; ++n)
        increment(store, pod(fmt::format("c{}", (i + n) % kCounters)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  store.snapshot()->scan(kPods, {}, [&](const ObjectPtr& o) { return sum += value_of(*o), true; });
  EXPECT_EQ(sum, kTotal);
  EXPECT_EQ(store.snapshot()->revision(), kFirstRevision + kTotal);
}

TEST(Concurrency, NoUpdateIsLostAndNoEventIsMissedInMemory) {
  Metrics metrics;
  auto store = open_store(make_memory_durability(), test_resources(), real_clock(), metrics);
  ASSERT_TRUE(store);
  hammer(**store);
}

TEST(Concurrency, NoUpdateIsLostAndNoEventIsMissedOnDisk) {
  const TempDirectory dir;
  Metrics metrics;
  {
    auto disk =
        open_sqlite(dir.path(), {.vfs = "", .checkpoint_bytes = 100'000, .max_log_bytes = 400'000});
    ASSERT_TRUE(disk) << disk.error().message;
    auto store = open_store(std::move(*disk), test_resources(), real_clock(), metrics);
    ASSERT_TRUE(store);
    hammer(**store);
  }
  auto disk = open_sqlite(dir.path(), {});
  ASSERT_TRUE(disk) << disk.error().message;
  auto store = open_store(std::move(*disk), test_resources(), real_clock(), metrics);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->snapshot()->revision(),
            kFirstRevision + std::uint64_t{kWriters} * kIncrementsEach);
}

TEST(Concurrency, SubscriptionsComeAndGoWhileOthersWrite) {
  Metrics metrics;
  auto opened = open_store(make_memory_durability(), test_resources(), real_clock(), metrics);
  ASSERT_TRUE(opened);
  Store& store = **opened;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto woken = std::make_shared<std::atomic<int>>(0);
        auto subscription = store.watch(kPods, store.snapshot()->revision(), [woken] { ++*woken; });
        ASSERT_TRUE(subscription || subscription.error().code == Code::kExpired);
        if (subscription) (void)(*subscription)->poll(10);
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(write_and_wait(store, put_of(pod(std::to_string(i)), "")));
    if (i % 50 == 0) store.compact();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Concurrency, AnObjectIsDecodedOnceForAllThreads) {
  const Object object("default", "a",
                      R"({"metadata":{"name":"a","namespace":"default","labels":{"k":"v"}}})", 1);
  std::vector<const api::Meta*> seen(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = &object.meta(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const api::Meta* meta : seen) EXPECT_EQ(meta, seen[0]);
  EXPECT_EQ(seen[0]->name, "a");
}

}  // namespace concurrency_test
}  // namespace muster::store
