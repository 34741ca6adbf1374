// What the store promises to watchers: every change once, in order, or the word that history is
// gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/rng.h"
#include "store/testing/store_fixture.h"

namespace muster::store {
namespace watch_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kAll = 1'000'000;

class WatchTest : public StoreFixture {
 protected:
  void SetUp() override { open(); }

  std::unique_ptr<Subscription> watch(
      int resource, Revision after, std::function<void()> wake = [] {}) {
    auto subscription = store->watch(resource, after, std::move(wake));
    EXPECT_TRUE(subscription) << subscription.error().message;
    return subscription ? std::move(*subscription) : nullptr;
  }
};

TEST_F(WatchTest, ShowsTheChangesOfOneResourceAfterARevision) {
  ASSERT_TRUE(put(pod("a"), "1"));     // 2
  ASSERT_TRUE(put(job("j"), "1"));     // 3
  ASSERT_TRUE(put(pod("a"), "2", 2));  // 4
  ASSERT_TRUE(remove(pod("a"), 4));    // 5
  EXPECT_THAT(describe(watch(kPods, 1)->poll(kAll)),
              ElementsAre("ADDED default/a@2", "MODIFIED default/a@4", "DELETED default/a@5"));
  EXPECT_THAT(describe(watch(kPods, 2)->poll(kAll)),
              ElementsAre("MODIFIED default/a@4", "DELETED default/a@5"));
  EXPECT_THAT(describe(watch(kPods, 5)->poll(kAll)), IsEmpty());
  EXPECT_THAT(describe(watch(kJobs, 1)->poll(kAll)), ElementsAre("ADDED default/j@3"));
}

TEST_F(WatchTest, SeveralResourcesAreOneSequenceInTheOrderOfRevisions) {
  const auto both = store->watch({kPods, kJobs}, 1, [] {});
  ASSERT_TRUE(both);
  ASSERT_TRUE(put(job("j"), "1"));     // 2
  ASSERT_TRUE(put(pod("a"), "1"));     // 3
  ASSERT_TRUE(put(node("n"), "1"));    // 4: not asked for
  ASSERT_TRUE(put(job("j"), "2", 2));  // 5
  ASSERT_TRUE(put(pod("b"), "1"));     // 6
  EXPECT_THAT(describe((*both)->poll(kAll)),
              ElementsAre("ADDED default/j@2", "ADDED default/a@3", "MODIFIED default/j@5",
                          "ADDED default/b@6"));
  EXPECT_EQ((*both)->position(), 6u);
}

// However few are taken at a time, nothing is passed over and nothing comes twice.
TEST_F(WatchTest, SeveralResourcesAreReadInPiecesOfAnySize) {
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) {
    // Runs of one kind and then of the other.
    const bool is_pod = i % 7 < 4;
    const std::string name = "x" + std::to_string(i);
    const auto written = put(is_pod ? pod(name) : job(name), "");
    ASSERT_TRUE(written);
    all.push_back(fmt::format("ADDED default/{}@{}", name, i + 2));
  }
  for (std::size_t size = 1; size <= 21; ++size) {
    const auto both = store->watch({kPods, kJobs}, 1, [] {});
    ASSERT_TRUE(both);
    std::vector<std::string> seen;
    while (true) {
      const auto piece = describe((*both)->poll(size));
      if (piece.empty()) break;
      EXPECT_LE(piece.size(), size);
      EXPECT_TRUE(piece.back().ends_with("@" + std::to_string((*both)->position())) ||
                  (*both)->position() == 21u);
      seen.insert(seen.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(seen, all) << "in pieces of " << size;
  }
}

TEST_F(WatchTest, AGroupThatTouchesSeveralResourcesWakesTheirReaderOnce) {
  int woken = 0;
  const auto both = store->watch({kPods, kJobs}, 1, [&] { ++woken; });
  ASSERT_TRUE(both);
  ASSERT_TRUE((*both)->poll(kAll));
  std::vector<Write> group;
  group.push_back(put_of(pod("a"), ""));
  group.push_back(put_of(job("j"), ""));
  write_group(std::move(group));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ((*both)->poll(kAll)->size(), 2u);
}

TEST_F(WatchTest, EventsCarryBothStates) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  ASSERT_TRUE(remove(pod("a"), 3));
  const auto events = watch(kPods, 1)->poll(kAll);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].previous, nullptr);
  EXPECT_EQ((*events)[1].previous->bytes(), text_of(2, "1"));
  EXPECT_EQ((*events)[1].object->bytes(), text_of(3, "2"));
  EXPECT_EQ((*events)[2].previous->bytes(), text_of(3, "2"));
  EXPECT_EQ((*events)[2].object->bytes(), text_of(4, "gone"));
}

TEST_F(WatchTest, ThePositionFollowsWhatWasReturnedAndThenTheStore) {
  const auto pods = watch(kPods, 1);
  ASSERT_TRUE(put(pod("a"), ""));
  ASSERT_TRUE(put(pod("b"), ""));
  ASSERT_TRUE(put(job("j"), ""));
  EXPECT_EQ(pods->position(), 1u);
  EXPECT_THAT(describe(pods->poll(1)), ElementsAre("ADDED default/a@2"));
  EXPECT_EQ(pods->position(), 2u);
  EXPECT_THAT(describe(pods->poll(1)), ElementsAre("ADDED default/b@3"));
  EXPECT_EQ(pods->position(), 4u);  // nothing of pods is left, so the job's revision is passed too
  const auto quiet = watch(kNodes, 1);
  EXPECT_THAT(describe(quiet->poll(1)), IsEmpty());
  EXPECT_EQ(quiet->position(), 4u);
}

TEST_F(WatchTest, AWatchInTheFutureWaits) {
  const auto later = watch(kPods, 3);
  ASSERT_TRUE(put(pod("a"), ""));
  ASSERT_TRUE(put(pod("b"), ""));
  EXPECT_THAT(describe(later->poll(kAll)), IsEmpty());
  EXPECT_EQ(later->position(), 3u);
  ASSERT_TRUE(put(pod("c"), ""));
  EXPECT_THAT(describe(later->poll(kAll)), ElementsAre("ADDED default/c@4"));
}

TEST_F(WatchTest, WakesOncePerGroupAndOnlyThoseWhoHavePolled) {
  int woken = 0;
  const auto pods = watch(kPods, 1, [&] { ++woken; });
  ASSERT_TRUE(put(pod("a"), ""));
  EXPECT_EQ(woken, 0);  // not polled yet: it will look anyway
  ASSERT_TRUE(pods->poll(kAll));
  std::vector<Write> group;
  group.push_back(put_of(pod("b"), ""));
  group.push_back(put_of(pod("c"), ""));
  write_group(std::move(group));
  EXPECT_EQ(woken, 1);
  ASSERT_TRUE(put(pod("d"), ""));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(pods->poll(kAll)->size(), 3u);
  ASSERT_TRUE(put(job("j"), ""));
  EXPECT_EQ(woken, 1);  // another resource
  ASSERT_TRUE(put(pod("e"), ""));
  EXPECT_EQ(woken, 2);
}

TEST_F(WatchTest, WhoIsWokenFindsTheEventAndItsEffect) {
  std::vector<std::string> seen;
  std::unique_ptr<Subscription> pods;
  pods = watch(kPods, 1, [&] {
    EXPECT_NE(store->snapshot()->get(pod("a")), nullptr);
    seen = describe(pods->poll(kAll));
  });
  ASSERT_TRUE(pods->poll(kAll));
  ASSERT_TRUE(put(pod("a"), ""));
  EXPECT_THAT(seen, ElementsAre("ADDED default/a@2"));
}

TEST_F(WatchTest, ASubscriptionMayEndInItsOwnWake) {
  std::unique_ptr<Subscription> pods;
  int woken = 0;
  pods = watch(kPods, 1, [&] {
    ++woken;
    pods.reset();
  });
  ASSERT_TRUE(pods->poll(kAll));
  ASSERT_TRUE(put(pod("a"), ""));
  ASSERT_TRUE(put(pod("b"), ""));
  EXPECT_EQ(woken, 1);
}

TEST_F(WatchTest, ASubscriptionOutlivesTheStore) {
  const auto pods = watch(kPods, 1);
  ASSERT_TRUE(put(pod("a"), ""));
  store.reset();
  EXPECT_THAT(describe(pods->poll(kAll)), ElementsAre("ADDED default/a@2"));
}

TEST_F(WatchTest, AWriteThatWasRefusedIsNeverSeen) {
  const auto pods = watch(kPods, 1);
  platter->fail_with(Error{.code = Code::kUnavailable, .message = "disk full"});
  EXPECT_FALSE(put(pod("a"), "1"));
  EXPECT_THAT(describe(pods->poll(kAll)), IsEmpty());
  platter->fail_with(std::nullopt);
  ASSERT_TRUE(put(pod("a"), "2"));
  EXPECT_THAT(describe(pods->poll(kAll)), ElementsAre("ADDED default/a@2"));
}

// --- The window ---

TEST_F(WatchTest, EventsLeaveWhenTheyAreBothOldAndMany) {
  options.history_events = 2;
  options.history_age = std::chrono::minutes(5);
  reopen();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(put(pod(name), ""));  // 2, 3, 4
  EXPECT_EQ(store->oldest(kPods), 1u);                                       // many, but young
  clock.advance(std::chrono::minutes(6));
  ASSERT_TRUE(put(job("j"), ""));  // 5
  EXPECT_EQ(store->oldest(kPods), 2u);
  EXPECT_EQ(store->oldest(kJobs), 1u);
  EXPECT_THAT(describe(watch(kPods, 2)->poll(kAll)),
              ElementsAre("ADDED default/b@3", "ADDED default/c@4"));
  const auto too_old = store->watch(kPods, 1, [] {});
  EXPECT_EQ(too_old.error().code, Code::kExpired);
  EXPECT_EQ(too_old.error().message, "too old resource version: 1 (2)");
}

TEST_F(WatchTest, SupersededVersionsHoldNoMoreThanTheirBytes) {
  options.history_least_bytes = options.history_bytes = 20'000;
  reopen();
  const std::string body(1'000, 'x');
  ASSERT_TRUE(put(pod("a"), body));
  for (Revision r = 2; r < 102; ++r) ASSERT_TRUE(put(pod("a"), body, r));
  const Revision oldest = store->oldest(kPods);
  EXPECT_GT(oldest, 102u - 20);
  EXPECT_LT(oldest, 102u - 10);
  EXPECT_EQ(watch(kPods, oldest)->poll(kAll)->size(), 102 - oldest);
}

TEST_F(WatchTest, TheOldestEventOfAnyResourceLeavesFirstWhenBytesAreShort) {
  options.history_least_bytes = options.history_bytes = 20'000;
  reopen();
  const std::string body(1'000, 'x');
  ASSERT_TRUE(put(job("quiet"), body));     // 2
  ASSERT_TRUE(put(job("quiet"), body, 2));  // 3
  ASSERT_TRUE(put(pod("busy"), body));      // 4
  for (Revision r = 4; r < 104; ++r) ASSERT_TRUE(put(pod("busy"), body, r));
  EXPECT_EQ(store->oldest(kJobs), 3u);
  EXPECT_EQ(store->oldest(kNodes), 1u);
}

TEST_F(WatchTest, ASlowReaderIsToldAndNeverSkipped) {
  const auto slow = watch(kPods, 1);
  ASSERT_TRUE(put(pod("a"), ""));
  ASSERT_TRUE(put(pod("b"), ""));
  ASSERT_EQ(slow->poll(1)->size(), 1u);
  store->compact();
  const auto cut = slow->poll(kAll);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Code::kExpired);
}

TEST_F(WatchTest, AReaderThatHasMissedNothingSurvivesCompaction) {
  const auto pods = watch(kPods, 1);
  const auto nodes = watch(kNodes, 1);
  ASSERT_TRUE(put(pod("a"), ""));
  ASSERT_EQ(pods->poll(kAll)->size(), 1u);
  ASSERT_TRUE(put(job("j"), ""));
  store->compact();
  EXPECT_FALSE(store->watch(kNodes, 1, [] {}));  // history before is refused to newcomers
  ASSERT_TRUE(put(pod("b"), ""));
  ASSERT_TRUE(put(node("n"), ""));
  EXPECT_THAT(describe(pods->poll(kAll)), ElementsAre("ADDED default/b@4"));
  EXPECT_THAT(describe(nodes->poll(kAll)), ElementsAre("ADDED /n@5"));
}

TEST_F(WatchTest, AWatchResumesAfterARestart) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  reopen();
  ASSERT_TRUE(remove(pod("a"), 3));
  EXPECT_THAT(describe(watch(kPods, 2)->poll(kAll)),
              ElementsAre("MODIFIED default/a@3", "DELETED default/a@4"));
}

// --- Faults that other watch caches had ---

// kubernetes#123072: a watcher could miss a deletion.
TEST_F(WatchTest, DeletionsAreNotLostAcrossRestartAndCompaction) {
  ASSERT_TRUE(put(pod("a"), "1"));   // 2
  ASSERT_TRUE(put(pod("b"), "1"));   // 3
  store->compact();                  // history begins after 3
  ASSERT_TRUE(remove(pod("a"), 2));  // 4
  reopen();
  ASSERT_TRUE(remove(pod("b"), 3));  // 5
  EXPECT_THAT(describe(watch(kPods, 3)->poll(kAll)),
              ElementsAre("DELETED default/a@4", "DELETED default/b@5"));
  const auto events = watch(kPods, 3)->poll(kAll);
  EXPECT_EQ((*events)[0].previous->bytes(), text_of(2, "1"));
}

// kubernetes#49992: with an empty history, a watch from the newest revision was taken for too old,
// or the first event after it was lost.
TEST_F(WatchTest, AnEmptyHistoryAcceptsTheNewestRevisionAndLosesNoEvent) {
  EXPECT_TRUE(store->watch(kPods, store->snapshot()->revision(), [] {}));
  ASSERT_TRUE(put(pod("a"), ""));
  store->compact();
  const Revision newest = store->snapshot()->revision();
  const auto pods = watch(kPods, newest);
  EXPECT_FALSE(store->watch(kPods, newest - 1, [] {}));
  reopen();
  const auto reopened = watch(kPods, newest);
  ASSERT_TRUE(put(pod("b"), ""));
  EXPECT_THAT(describe(reopened->poll(kAll)), ElementsAre("ADDED default/b@3"));
}

// kubernetes#107457: after a restore the revision went back, so clients waited for revisions that
// came a second time with other contents. (The jump itself: sqlite_backup_test.cc.)
TEST_F(WatchTest, ARestoredStoreExpiresEveryEarlierRevision) {
  ASSERT_TRUE(put(pod("a"), ""));
  platter->jump_to(1'000'000);
  reopen();
  EXPECT_EQ(store->snapshot()->revision(), 1'000'000u);
  // 2 is known from the backup, 500 may have been seen in the life that was lost; neither may be
  // resumed.
  for (const Revision seen : {2u, 500u, 999'999u}) {
    EXPECT_EQ(store->watch(kPods, seen, [] {}).error().code, Code::kExpired) << seen;
    EXPECT_EQ(store->snapshot_at(kNodes, seen).error().code, Code::kExpired) << seen;
  }
  EXPECT_TRUE(store->watch(kPods, 1'000'000, [] {}));
  EXPECT_EQ((*put(pod("b"), ""))->revision(), 1'000'001u);
}

// --- R5: random histories, random readers. MUSTER_WATCHERS and MUSTER_WATCH_EVENTS make it larger.
// ---

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A reader that rebuilds the state of a resource from events alone, as an informer does.
class Informer {
 public:
  void list(Store& store) {
    const SnapshotPtr snapshot = store.snapshot();
    objects_.clear();
    snapshot->scan(kPods, {},
                   [&](const ObjectPtr& o) { return objects_[o->path()] = o->bytes(), true; });
    auto watching = store.watch(kPods, snapshot->revision(), [] {});
    ASSERT_TRUE(watching);
    subscription_ = std::move(*watching);
    last_ = snapshot->revision();
  }
  // The connection breaks; resumes where it was, exactly. `floor` is what the store says it still
  // has.
  void reconnect(Store& store) {
    const Revision position = subscription_->position();
    auto watching = store.watch(kPods, position, [] {});
    ASSERT_EQ(watching.has_value(), position >= store.oldest(kPods));
    if (!watching) return list(store);
    subscription_ = std::move(*watching);
  }
  void read(Store& store, std::size_t max) {
    const auto events = subscription_->poll(max);
    if (!events) {
      ASSERT_EQ(events.error().code, Code::kExpired);
      ASSERT_LT(last_, store.oldest(kPods)) << "expired, although its history is there";
      return list(store);
    }
    for (const Event& event : *events) take(event);
    ASSERT_LE(last_, subscription_->position());
    last_ = subscription_->position();
  }
  void drain(Store& store) {
    while (subscription_->position() < store.snapshot()->revision()) {
      read(store, 7);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  const std::map<std::string, std::string>& objects() const { return objects_; }

 private:
  void take(const Event& event) {
    ASSERT_GT(event.revision, last_) << "out of order or twice";
    ASSERT_EQ(event.object->revision(), event.revision);
    last_ = event.revision;
    const std::string& path = event.object->path();
    const auto known = objects_.find(path);
    // `previous` is what this reader has: nothing was skipped in between.
    ASSERT_EQ(known != objects_.end(), event.previous != nullptr) << describe(event);
    ASSERT_EQ(event.type == Event::Type::kAdded, event.previous == nullptr);
    if (event.previous) {
      ASSERT_EQ(known->second, event.previous->bytes());
    }
    if (event.type == Event::Type::kDeleted) {
      objects_.erase(path);
    } else {
      objects_[path] = event.object->bytes();
    }
  }

  std::unique_ptr<Subscription> subscription_;
  std::map<std::string, std::string> objects_;
  Revision last_ = 0;
};

class RandomWatchers : public WatchTest, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  void random_write(Rng& rng) {
    const Key key = rng.chance(0.8)
                        ? pod(std::to_string(rng.below(40)), rng.chance(0.5) ? "x" : "y")
                        : job(std::to_string(rng.below(5)));
    const ObjectPtr current = store->snapshot()->get(key);
    if (current == nullptr) {
      ASSERT_TRUE(put(key, "new"));
    } else if (rng.chance(0.3)) {
      ASSERT_TRUE(remove(key, current->revision()));
    } else {
      ASSERT_TRUE(put(key, std::to_string(rng.below(1'000)), current->revision()));
    }
  }
};

TEST_P(RandomWatchers, SeeEveryChangeOnceAndInOrderOrListAgain) {
  Rng rng(GetParam());
  options.history_events = 20 + rng.below(200);
  options.history_least_bytes = options.history_bytes = 4'000 + rng.below(100'000);
  reopen();
  std::vector<Informer> informers(number_from("MUSTER_WATCHERS", 20));
  for (Informer& informer : informers) ASSERT_NO_FATAL_FAILURE(informer.list(*store));
  const std::uint64_t events = number_from("MUSTER_WATCH_EVENTS", 2'000);
  for (std::uint64_t step = 0; step < events; ++step) {
    ASSERT_NO_FATAL_FAILURE(random_write(rng));
    clock.advance(std::chrono::milliseconds(rng.below(10)));
    Informer& informer = informers[rng.below(informers.size())];
    if (rng.chance(0.7)) informer.read(*store, 1 + rng.below(30));
    if (rng.chance(0.05)) informer.reconnect(*store);
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    if (rng.chance(0.002)) store->compact();
    if (rng.chance(0.002)) {
      reopen();
      for (Informer& each : informers) ASSERT_NO_FATAL_FAILURE(each.reconnect(*store));
    }
  }
  std::map<std::string, std::string> expected;
  store->snapshot()->scan(
      kPods, {}, [&](const ObjectPtr& o) { return expected[o->path()] = o->bytes(), true; });
  for (Informer& informer : informers) {
    ASSERT_NO_FATAL_FAILURE(informer.drain(*store));
    ASSERT_EQ(informer.objects(), expected);
  }
}

TEST_P(RandomWatchers, EveryEarlierStateInTheWindowCanBeRead) {
  Rng rng(GetParam());
  options.history_events = 50;
  reopen();
  std::map<Revision, SnapshotPtr> seen;
  for (int step = 0; step < 300; ++step) {
    ASSERT_NO_FATAL_FAILURE(random_write(rng));
    clock.advance(std::chrono::milliseconds(1));
    seen[store->snapshot()->revision()] = store->snapshot();
  }
  for (const auto& [revision, then] : seen) {
    const auto again = store->snapshot_at(kPods, revision);
    ASSERT_EQ(again.has_value(), revision >= store->oldest(kPods));
    if (!again) continue;
    std::vector<ObjectPtr> a, b;
    then->scan(kPods, {}, [&](const ObjectPtr& o) { return a.push_back(o), true; });
    (*again)->scan(kPods, {}, [&](const ObjectPtr& o) { return b.push_back(o), true; });
    ASSERT_EQ(a, b) << revision;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWatchers, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace watch_test
}  // namespace muster::store
