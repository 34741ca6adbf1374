// What the store promises to writers and readers. Watching is in watch_test.cc.
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/testing/store_fixture.h"

namespace muster::store {
namespace store_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class StoreTest : public StoreFixture {
 protected:
  void SetUp() override { open(); }
};

TEST_F(StoreTest, AnEmptyStoreIsAtRevisionOneBecauseZeroMeansAny) {
  EXPECT_EQ(store->snapshot()->revision(), 1u);
  EXPECT_EQ(store->oldest(kPods), 1u);
  EXPECT_THAT(paths(*store->snapshot(), kPods), IsEmpty());
}

TEST_F(StoreTest, AWriteGetsTheNextRevisionInItsText) {
  const auto a = put(pod("a"), "hello");
  ASSERT_TRUE(a) << a.error().message;
  EXPECT_EQ((*a)->revision(), 2u);
  EXPECT_EQ((*a)->bytes(), R"({"rv":"2","v":"hello"})");
  EXPECT_EQ((*a)->ns(), "default");
  EXPECT_EQ((*a)->name(), "a");
  EXPECT_EQ(store->snapshot()->get(pod("a")), *a);
}

TEST_F(StoreTest, OneCounterForAllResources) {
  EXPECT_EQ((*put(pod("a"), ""))->revision(), 2u);
  EXPECT_EQ((*put(job("a"), ""))->revision(), 3u);
  EXPECT_EQ((*put(node("a"), ""))->revision(), 4u);
  EXPECT_EQ(store->snapshot()->revision(), 4u);
}

TEST_F(StoreTest, CreatingWhatExistsIsRefused) {
  ASSERT_TRUE(put(job("a"), ""));
  const auto again = put(job("a"), "");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_EQ(again.error().message, R"(jobs.batch "a" already exists)");
  EXPECT_EQ(again.error().name, "a");
  EXPECT_EQ(again.error().group, "batch");
  EXPECT_EQ(again.error().kind, "jobs");
  EXPECT_EQ(store->snapshot()->revision(), 2u);
}

TEST_F(StoreTest, UpdatingWhatIsGoneIsRefused) {
  const auto updated = put(pod("a"), "", 7);
  EXPECT_EQ(updated.error().code, Code::kNotFound);
  EXPECT_EQ(updated.error().message, R"(pods "a" not found)");
  EXPECT_EQ(remove(pod("a"), 7).error().code, Code::kNotFound);
  EXPECT_EQ(remove(pod("a"), 0).error().code, Code::kNotFound);
}

TEST_F(StoreTest, UpdatingAnOldVersionIsAConflict) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  const auto stale = put(pod("a"), "3", 2);
  EXPECT_EQ(stale.error().code, Code::kConflict);
  EXPECT_EQ(stale.error().message,
            R"(Operation cannot be fulfilled on pods "a": the object has been modified; )"
            "please apply your changes to the latest version and try again");
  EXPECT_EQ(remove(pod("a"), 2).error().code, Code::kConflict);
  EXPECT_EQ(remove(pod("a"), 0).error().code, Code::kConflict);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(3, "2"));
}

TEST_F(StoreTest, ADeletionHasARevisionAndAFinalState) {
  ASSERT_TRUE(put(pod("a"), "1"));
  const auto gone = remove(pod("a"), 2);
  ASSERT_TRUE(gone);
  EXPECT_EQ((*gone)->bytes(), text_of(3, "gone"));
  EXPECT_EQ(store->snapshot()->get(pod("a")), nullptr);
  EXPECT_EQ(store->snapshot()->revision(), 3u);
}

TEST_F(StoreTest, ASnapshotDoesNotChange) {
  ASSERT_TRUE(put(pod("a"), "1"));
  const SnapshotPtr before = store->snapshot();
  ASSERT_TRUE(put(pod("a"), "2", 2));
  ASSERT_TRUE(put(pod("b"), "1"));
  EXPECT_EQ(before->revision(), 2u);
  EXPECT_EQ(before->get(pod("a"))->bytes(), text_of(2, "1"));
  EXPECT_THAT(paths(*before, kPods), ElementsAre("default/a"));
}

TEST_F(StoreTest, ASnapshotOutlivesTheStore) {
  ASSERT_TRUE(put(pod("a"), "1"));
  const SnapshotPtr kept = store->snapshot();
  store.reset();
  EXPECT_EQ(kept->get(pod("a"))->bytes(), text_of(2, "1"));
}

TEST_F(StoreTest, ScansInTheOrderOfUpstreamsKeys) {
  for (const char* ns : {"a", "a-b", "b"}) {
    for (const char* name : {"y", "x"}) ASSERT_TRUE(put(pod(name, ns), ""));
  }
  const SnapshotPtr snapshot = store->snapshot();
  EXPECT_THAT(paths(*snapshot, kPods), ElementsAre("a-b/x", "a-b/y", "a/x", "a/y", "b/x", "b/y"));
  EXPECT_THAT(paths(*snapshot, kPods, {.ns = "a"}), ElementsAre("a/x", "a/y"));
  EXPECT_THAT(paths(*snapshot, kPods, {.ns = "a", .after_ns = "a", .after_name = "x"}),
              ElementsAre("a/y"));
  EXPECT_THAT(paths(*snapshot, kPods, {.ns = "", .after_ns = "a", .after_name = "x"}),
              ElementsAre("a/y", "b/x", "b/y"));
  EXPECT_THAT(paths(*snapshot, kPods, {.ns = "b", .after_ns = "a", .after_name = "x"}),
              ElementsAre("b/x", "b/y"));
  EXPECT_THAT(paths(*snapshot, kPods, {.ns = "c"}), IsEmpty());
  EXPECT_EQ(snapshot->count(kPods, ""), 6u);
  EXPECT_EQ(snapshot->count(kPods, "a"), 2u);
  EXPECT_EQ(snapshot->count(kPods, "a-b"), 2u);
  EXPECT_EQ(snapshot->count(kPods, "c"), 0u);
}

TEST_F(StoreTest, ScansClusterScopedObjectsAndStopsWhenTold) {
  for (const char* name : {"n2", "n1", "n3"}) ASSERT_TRUE(put(node(name), ""));
  EXPECT_THAT(paths(*store->snapshot(), kNodes), ElementsAre("/n1", "/n2", "/n3"));
  EXPECT_THAT(paths(*store->snapshot(), kNodes, {.ns = "", .after_ns = "", .after_name = "n1"}),
              ElementsAre("/n2", "/n3"));
  int seen = 0;
  store->snapshot()->scan(kNodes, {}, [&](const ObjectPtr&) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

TEST_F(StoreTest, WritesOfOneGroupSeeEachOther) {
  std::vector<Write> group;
  group.push_back(put_of(pod("a"), "1"));
  group.push_back(put_of(pod("a"), "2", 2));
  group.push_back(put_of(pod("a"), "lost", 2));
  group.push_back(remove_of(pod("a"), 3));
  group.push_back(put_of(pod("a"), "again"));
  const auto answers = write_group(std::move(group));
  EXPECT_EQ((*answers[0])->revision(), 2u);
  EXPECT_EQ((*answers[1])->revision(), 3u);
  EXPECT_EQ(answers[2].error().code, Code::kConflict);
  EXPECT_EQ((*answers[3])->revision(), 4u);
  EXPECT_EQ((*answers[4])->revision(), 5u);
  EXPECT_THAT(platter->group_sizes(), ElementsAre(4u));
}

TEST_F(StoreTest, NoGroupIsLargerThanAllowed) {
  options.max_group = 3;
  reopen();
  std::vector<Write> writes;
  for (int i = 0; i < 8; ++i) writes.push_back(put_of(pod(std::to_string(i)), ""));
  write_group(std::move(writes));
  EXPECT_THAT(platter->group_sizes(), ElementsAre(3u, 3u, 2u));
}

TEST_F(StoreTest, AnEarlierStateOfOneResourceCanBeRead) {
  ASSERT_TRUE(put(pod("a"), "1"));     // 2
  ASSERT_TRUE(put(pod("b"), "1"));     // 3
  ASSERT_TRUE(put(job("j"), "1"));     // 4
  ASSERT_TRUE(put(pod("a"), "2", 2));  // 5
  ASSERT_TRUE(remove(pod("b"), 3));    // 6
  ASSERT_TRUE(put(pod("c"), "1"));     // 7
  const auto at = [&](Revision revision) {
    return paths(**store->snapshot_at(kPods, revision), kPods);
  };
  EXPECT_THAT(at(1), IsEmpty());
  EXPECT_THAT(at(2), ElementsAre("default/a"));
  EXPECT_THAT(at(3), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(at(6), ElementsAre("default/a"));
  EXPECT_THAT(at(7), ElementsAre("default/a", "default/c"));
  EXPECT_EQ((*store->snapshot_at(kPods, 4))->get(pod("a"))->bytes(), text_of(2, "1"));
  EXPECT_EQ((*store->snapshot_at(kPods, 4))->revision(), 4u);
  EXPECT_EQ((*store->snapshot_at(kPods, 5))->get(pod("a"))->bytes(), text_of(5, "2"));
}

TEST_F(StoreTest, AFutureStateCannotBeReadYet) {
  const auto future = store->snapshot_at(kPods, 381);
  ASSERT_FALSE(future);
  EXPECT_EQ(future.error().code, Code::kTimeout);
  EXPECT_EQ(future.error().message, "Timeout: Too large resource version: 381, current: 1");
  EXPECT_EQ(future.error().causes.at(0).reason, "ResourceVersionTooLarge");
  EXPECT_EQ(future.error().retry_after_seconds, 1);
}

TEST_F(StoreTest, CompactingEndsTheHistoryAndLeavesTheState) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  ASSERT_TRUE(put(pod("b"), "1"));
  ASSERT_TRUE(remove(pod("b"), 4));
  store->compact();
  EXPECT_EQ(store->oldest(kPods), 5u);
  const auto old = store->snapshot_at(kPods, 4);
  EXPECT_EQ(old.error().code, Code::kExpired);
  EXPECT_EQ(old.error().message, "The resourceVersion for the provided list is too old.");
  EXPECT_TRUE(store->snapshot_at(kPods, 5));
  ASSERT_EQ(platter->rows().size(), 1u);  // only the living object is left on disk
  EXPECT_EQ(platter->rows().begin()->second.text, text_of(3, "2"));
  reopen();
  EXPECT_THAT(paths(*store->snapshot(), kPods), ElementsAre("default/a"));
  EXPECT_EQ(store->oldest(kPods), 5u);
}

TEST_F(StoreTest, OpensWithTheKindsOfTheRegistry) {
  const api::Registry& registry = api::Registry::builtin();
  const api::Resource* jobs = registry.find_storage("batch", "jobs");
  ASSERT_NE(jobs, nullptr);
  auto opened = Store::open(std::make_unique<FakeDisk>(platter), registry, clock, metrics, options);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(write_and_wait(**opened, put_of({jobs->id, "default", "a"}, "1")));
  EXPECT_EQ(platter->rows().at(2).resource, "jobs.batch");
}

// --- Restart ---

TEST_F(StoreTest, StateAndRevisionSurviveARestart) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(job("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  ASSERT_TRUE(put(pod("b"), "1"));
  ASSERT_TRUE(remove(pod("b"), 5));
  reopen();
  EXPECT_EQ(store->snapshot()->revision(), 6u);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(4, "2"));
  EXPECT_EQ(store->snapshot()->get(pod("b")), nullptr);
  EXPECT_EQ((*put(pod("c"), ""))->revision(), 7u);
  EXPECT_THAT(paths(**store->snapshot_at(kPods, 5), kPods), ElementsAre("default/a", "default/b"));
}

TEST_F(StoreTest, LivingObjectsOfUnknownKindsStopTheStart) {
  ASSERT_TRUE(put(job("a"), "1"));
  store.reset();
  auto opened =
      open_store(std::make_unique<FakeDisk>(platter), {{"", "pods"}}, clock, metrics, options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("jobs.batch default/a"));
}

TEST_F(StoreTest, DeadObjectsOfUnknownKindsAreForgotten) {
  ASSERT_TRUE(put(job("a"), "1"));
  ASSERT_TRUE(put(job("a"), "2", 2));
  ASSERT_TRUE(remove(job("a"), 3));
  store.reset();
  auto opened =
      open_store(std::make_unique<FakeDisk>(platter), {{"", "pods"}}, clock, metrics, options);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(write_and_wait(**opened, put_of(pod("p"), "")));
  EXPECT_EQ(platter->rows().size(), 1u);
}

// --- Trouble with the disk ---

TEST_F(StoreTest, AFullDiskRefusesWritesAndRecoversByItself) {
  ASSERT_TRUE(put(pod("a"), "1"));
  platter->fail_with(Error{.code = Code::kUnavailable, .message = "disk full"});
  const auto refused = put(pod("a"), "2", 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_GT(refused.error().retry_after_seconds, 0);
  EXPECT_THAT(refused.error().message, HasSubstr("disk full; nothing was changed"));
  EXPECT_THAT(store->trouble(), HasSubstr("disk full"));
  EXPECT_EQ(store->snapshot()->revision(), 2u);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(2, "1"));

  platter->fail_with(std::nullopt);
  EXPECT_EQ((*put(pod("a"), "3", 2))->revision(), 3u);
  EXPECT_EQ(store->trouble(), "");
}

TEST_F(StoreTest, ARefusedGroupTakesItsConflictsWithIt) {
  platter->fail_with(Error{.code = Code::kUnavailable, .message = "disk full"});
  std::vector<Write> group;
  group.push_back(put_of(pod("a"), "1"));
  group.push_back(put_of(pod("a"), "2"));  // would exist already, had the first one happened
  const auto answers = write_group(std::move(group));
  EXPECT_EQ(answers[0].error().code, Code::kUnavailable);
  EXPECT_EQ(answers[1].error().code, Code::kUnavailable);
}

TEST_F(StoreTest, AFailedSyncEndsWritingForGoodAndLeavesReading) {
  ASSERT_TRUE(put(pod("a"), "1"));
  platter->fail_with(Error{.code = Code::kInternal, .message = "sync failed"});
  const auto unknown = put(pod("b"), "1");
  EXPECT_EQ(unknown.error().code, Code::kInternal);
  EXPECT_THAT(unknown.error().message, HasSubstr("not known whether the change is on disk"));
  platter->fail_with(std::nullopt);
  const auto refused = put(pod("c"), "1");
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("sync failed"));
  EXPECT_THAT(store->trouble(), HasSubstr("no more writes until the server is restarted"));
  EXPECT_THAT(paths(*store->snapshot(), kPods), ElementsAre("default/a"));
}

TEST_F(StoreTest, ForgettingIsTriedAgainAfterTheNextWrite) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("a"), "2", 2));
  platter->fail_with(Error{.code = Code::kUnavailable, .message = "disk full"});
  store->compact();
  EXPECT_EQ(platter->rows().size(), 2u);
  platter->fail_with(std::nullopt);
  ASSERT_TRUE(put(pod("b"), "1"));
  EXPECT_THAT(platter->rows(), ElementsAre(Pair(3u, _), Pair(4u, _)));
}

TEST_F(StoreTest, TheDiskDoesNotGrowWhileWritingNeverStops) {
  options.history_events = 0;
  options.history_age = Duration::min();
  reopen();
  ASSERT_TRUE(put(pod("a"), "1"));
  // Each answer brings the next write, so that the queue is never empty.
  std::size_t most = 0;
  Revision revision = 2;
  std::function<void()> next = [&] {
    most = std::max(most, platter->row_count());
    if (revision == 20'000) return;
    store->submit(put_of(pod("a"), "1", revision), [&](const Result<ObjectPtr>& written) {
      ASSERT_TRUE(written);
      revision = (*written)->revision();
      next();
    });
  };
  next();
  EXPECT_EQ(revision, 20'000u);
  EXPECT_LT(most, 10'000u);
}

// --- The queue, with a thread ---

class ThreadedStoreTest : public StoreFixture {
 protected:
  void SetUp() override {
    options.commit_inline = false;
    options.max_queue = 4;
    open();
    // The first write is being written when the others come.
    platter->hold();
    submit("first");
    platter->wait_until_an_append_waits();
  }
  void TearDown() override {
    platter->release();
    store.reset();  // before the answers, which its callbacks write to
  }
  void submit(const std::string& name) {
    store->submit(put_of(pod(name), ""), [this, name](const Result<ObjectPtr>& answer) {
      const std::lock_guard lock(mutex_);
      answers_.push_back(name + (answer                                          ? " ok"
                                 : answer.error().code == Code::kTooManyRequests ? " 429"
                                                                                 : " no"));
    });
  }
  std::vector<std::string> answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> answers_;
};

TEST_F(ThreadedStoreTest, WritesThatCameDuringASyncShareTheNextOne) {
  for (const char* name : {"a", "b", "c"}) submit(name);
  EXPECT_THAT(answers(), IsEmpty());
  platter->release();
  store.reset();  // finishes what is queued
  EXPECT_THAT(answers(), ElementsAre("first ok", "a ok", "b ok", "c ok"));
  EXPECT_THAT(platter->group_sizes(), ElementsAre(1u, 3u));
}

TEST_F(ThreadedStoreTest, AStoppedStoreHasAnsweredAllAndTakesNoMore) {
  submit("a");
  platter->release();
  store->stop();
  EXPECT_THAT(answers(), ElementsAre("first ok", "a ok"));
  submit("late");
  EXPECT_THAT(answers(), ElementsAre("first ok", "a ok", "late no"));
  store->stop();  // once more is no harm
}

TEST_F(ThreadedStoreTest, AFullQueueRefusesAtOnce) {
  for (const char* name : {"a", "b", "c", "d", "e"}) submit(name);
  EXPECT_THAT(answers(), ElementsAre("e 429"));
  platter->release();
  store.reset();
  EXPECT_THAT(answers(), ElementsAre("e 429", "first ok", "a ok", "b ok", "c ok", "d ok"));
}

TEST_F(ThreadedStoreTest, ReadersDoNotWaitForTheDisk) {
  submit("a");
  EXPECT_EQ(store->snapshot()->revision(), 1u);
  EXPECT_TRUE(store->snapshot_at(kPods, 1));
  platter->release();
}

TEST_F(StoreTest, MetricsTellWhatIsThere) {
  ASSERT_TRUE(put(pod("a"), "1"));
  ASSERT_TRUE(put(pod("b"), "1"));
  ASSERT_TRUE(remove(pod("a"), 2));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("muster_store_objects{resource=\"pods\"} 1"));
  EXPECT_THAT(text, HasSubstr("muster_store_revision 4"));
  EXPECT_THAT(text, HasSubstr("muster_store_group_writes_count 3"));
  EXPECT_THAT(text, HasSubstr("muster_store_commit_seconds_count 3"));
  EXPECT_THAT(text, HasSubstr("muster_store_queue_length 0"));
}

}  // namespace store_test
}  // namespace muster::store
