// Lists of writes: all or none, in one transaction, visible at once.
//
// That no crash leaves a part of one is in power_cut_test.cc, io_fault_test.cc and kill_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace list_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kGang = 4'096;
constexpr std::size_t kAllEvents = 1'000'000;

template <class... Writes>
std::vector<Write> list_of(Writes... writes) {
  std::vector<Write> list;
  (list.push_back(std::move(writes)), ...);
  return list;
}

std::vector<Revision> revisions_of(const ListResult& written) {
  std::vector<Revision> revisions;
  for (const ObjectPtr& object : written.value()) revisions.push_back(object->revision());
  return revisions;
}

class ListTest : public StoreFixture {
 protected:
  void SetUp() override { open(); }

  std::vector<std::string> events_since(int resource, Revision after) {
    return describe((*store->watch(resource, after, [] {}))->poll(kAllEvents));
  }
};

TEST_F(ListTest, AllOfAListIsDoneInOneTransaction) {
  ASSERT_TRUE(put(pod("a"), "1"));  // 2
  ASSERT_TRUE(put(job("j"), "1"));  // 3
  const auto written =
      write_list(list_of(put_of(pod("a"), "2", 2), remove_of(job("j"), 3), put_of(node("n"), "1")));
  ASSERT_TRUE(written) << written.error().error.message;
  EXPECT_THAT(revisions_of(written), ElementsAre(4u, 5u, 6u));
  EXPECT_EQ((*written)[0]->bytes(), text_of(4, "2"));
  EXPECT_EQ((*written)[1]->bytes(), text_of(5, "gone"));
  EXPECT_EQ(store->snapshot()->get(pod("a")), (*written)[0]);
  EXPECT_EQ(store->snapshot()->get(job("j")), nullptr);
  EXPECT_EQ(store->snapshot()->get(node("n")), (*written)[2]);
  EXPECT_THAT(platter->group_sizes(), ElementsAre(1u, 1u, 3u));
  EXPECT_THAT(events_since(kPods, 3), ElementsAre("MODIFIED default/a@4"));
  EXPECT_THAT(events_since(kJobs, 3), ElementsAre("DELETED default/j@5"));
  reopen();
  EXPECT_EQ(store->snapshot()->revision(), 6u);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(4, "2"));
}

// Each way to be refused, at the beginning, in the middle and at the end of a list.
struct RefusedCase {
  const char* what;
  Write write;
  Code code;
  const char* message;
};

TEST_F(ListTest, OneRefusedWriteTakesTheWholeListWithIt) {
  ASSERT_TRUE(put(pod("a"), "1"));     // 2
  ASSERT_TRUE(put(pod("b"), "1"));     // 3
  ASSERT_TRUE(put(pod("a"), "2", 2));  // 4
  const std::vector<RefusedCase> cases = {
      {"exists", put_of(pod("a"), ""), Code::kAlreadyExists, R"(pods "a" already exists)"},
      {"changed", put_of(pod("a"), "", 2), Code::kConflict,
       R"(Operation cannot be fulfilled on pods "a": the object has been modified)"},
      {"gone", put_of(pod("x"), "", 2), Code::kNotFound, R"(pods "x" not found)"},
      {"delete what was changed", remove_of(pod("a"), 2), Code::kConflict, R"(on pods "a")"},
      {"delete what is gone", remove_of(job("x"), 2), Code::kNotFound, R"(jobs.batch "x" not)"},
  };
  for (const RefusedCase& each : cases) {
    for (std::size_t place = 0; place < 4; ++place) {
      SCOPED_TRACE(fmt::format("{} at {}", each.what, place));
      std::vector<Write> list =
          list_of(put_of(pod("b"), "2", 3), put_of(pod("c"), "1"), put_of(job("j"), "1"));
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), each.write);
      const auto refused = write_list(std::move(list));
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().refused, place);
      EXPECT_EQ(refused.error().error.code, each.code);
      EXPECT_EQ(refused.error().error.name, each.write.key.name);
      EXPECT_THAT(refused.error().error.message, HasSubstr(each.message));
      EXPECT_EQ(store->snapshot()->revision(), 4u);
    }
  }
  EXPECT_EQ(store->snapshot()->get(pod("b"))->bytes(), text_of(3, "1"));
  EXPECT_THAT(paths(*store->snapshot(), kPods), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(paths(*store->snapshot(), kJobs), IsEmpty());
  EXPECT_THAT(events_since(kPods, 4), IsEmpty());
  EXPECT_EQ(platter->row_count(), 3u);
  EXPECT_EQ((*put(pod("c"), ""))->revision(), 5u) << "a refused list takes no revisions";
}

TEST_F(ListTest, OfSeveralRefusedWritesTheFirstIsNamed) {
  const auto refused =
      write_list(list_of(put_of(pod("a"), ""), put_of(pod("b"), "", 7), put_of(pod("c"), "", 7)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().refused, 1u);
  EXPECT_EQ(refused.error().error.name, "b");
}

TEST_F(ListTest, ALaterWriteSeesTheEarlierOnes) {
  ASSERT_TRUE(put(pod("a"), "1"));  // 2
  const auto replaced = write_list(list_of(remove_of(pod("a"), 2), put_of(pod("a"), "new")));
  ASSERT_TRUE(replaced) << replaced.error().error.message;
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(4, "new"));
  EXPECT_THAT(events_since(kPods, 2), ElementsAre("DELETED default/a@3", "ADDED default/a@4"));
  EXPECT_EQ(store->snapshot()->count(kPods, ""), 1u);
}

TEST_F(ListTest, ToChangeAnObjectTwiceIsAConflict) {
  ASSERT_TRUE(put(pod("a"), "1"));  // 2
  const auto twice = write_list(list_of(put_of(pod("a"), "2", 2), put_of(pod("a"), "3", 2)));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().refused, 1u);
  EXPECT_EQ(twice.error().error.code, Code::kConflict);
  const auto created = write_list(list_of(put_of(pod("b"), "1"), put_of(pod("b"), "2")));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().refused, 1u);
  EXPECT_EQ(created.error().error.code, Code::kAlreadyExists);
  const auto deleted = write_list(list_of(remove_of(pod("a"), 2), remove_of(pod("a"), 2)));
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().refused, 1u);
  EXPECT_EQ(deleted.error().error.code, Code::kNotFound);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(2, "1"));
  EXPECT_EQ(store->snapshot()->get(pod("b")), nullptr);
}

// What was deleted and created again in the list that is refused is back as it was.
TEST_F(ListTest, ARefusedListIsUndoneInReverse) {
  ASSERT_TRUE(put(pod("a"), "1"));  // 2
  const ObjectPtr before = store->snapshot()->get(pod("a"));
  const auto refused = write_list(list_of(remove_of(pod("a"), 2), put_of(pod("a"), "new"),
                                          put_of(pod("b"), ""), put_of(pod("c"), "", 99)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(store->snapshot()->get(pod("a")), before);
  EXPECT_EQ(store->snapshot()->get(pod("b")), nullptr);
  const auto updated = put(pod("a"), "2", 2);
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ((*updated)->revision(), 3u);
}

TEST_F(ListTest, ARefusedListLeavesTheRestOfItsGroupAlone) {
  std::vector<std::string> answers;
  const auto note = [&](const char* which) {
    return [&answers, which](const ListResult& r) {
      answers.push_back(r ? fmt::format("{} {}", which, r->front()->revision())
                          : fmt::format("{} refused {}", which, *r.error().refused));
    };
  };
  // Submitted from a callback, so that they wait together.
  store->submit(remove_of(pod("no-such-pod"), 1), [&](const Result<ObjectPtr>&) {
    store->submit(list_of(put_of(pod("a"), "1"), put_of(pod("b"), "1")), note("first"));
    store->submit(list_of(put_of(pod("c"), "1"), put_of(pod("a"), "1")), note("second"));
    store->submit(list_of(put_of(pod("c"), "2"), put_of(pod("a"), "2", 2)), note("third"));
  });
  EXPECT_THAT(answers, ElementsAre("first 2", "second refused 1", "third 4"));
  EXPECT_THAT(platter->group_sizes(), ElementsAre(4u));
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(5, "2"));
  EXPECT_EQ(store->snapshot()->get(pod("c"))->bytes(), text_of(4, "2"));
  EXPECT_THAT(events_since(kPods, 1), ElementsAre("ADDED default/a@2", "ADDED default/b@3",
                                                  "ADDED default/c@4", "MODIFIED default/a@5"));
}

TEST_F(ListTest, WhenTheDiskRefusesNothingOfTheListIsThere) {
  platter->fail_with(Error{.code = Code::kUnavailable, .message = "disk full"});
  const auto refused = write_list(list_of(put_of(pod("a"), ""), put_of(pod("b"), "")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().refused, std::nullopt);
  EXPECT_EQ(refused.error().error.code, Code::kUnavailable);
  EXPECT_THAT(paths(*store->snapshot(), kPods), IsEmpty());
  EXPECT_THAT(events_since(kPods, 1), IsEmpty());
  platter->fail_with(std::nullopt);
  EXPECT_THAT(revisions_of(write_list(list_of(put_of(pod("a"), ""), put_of(pod("b"), "")))),
              ElementsAre(2u, 3u));
}

TEST_F(ListTest, AnEmptyListIsDoneAtOnce) {
  const auto written = write_list({});
  ASSERT_TRUE(written);
  EXPECT_THAT(*written, IsEmpty());
  EXPECT_EQ(store->snapshot()->revision(), 1u);
  EXPECT_THAT(platter->group_sizes(), IsEmpty());
}

TEST_F(ListTest, WatchersAreWokenOnceForAListAndSeeAllOfIt) {
  std::unique_ptr<Subscription> pods;
  std::vector<std::string> seen;
  int woken = 0;
  pods = *store->watch(kPods, 1, [&] {
    ++woken;
    EXPECT_EQ(store->snapshot()->count(kPods, ""), 3u);
    seen = describe(pods->poll(kAllEvents));
  });
  ASSERT_TRUE(pods->poll(kAllEvents));
  ASSERT_TRUE(
      write_list(list_of(put_of(pod("a"), ""), put_of(pod("b"), ""), put_of(pod("c"), ""))));
  EXPECT_EQ(woken, 1);
  EXPECT_THAT(seen, ElementsAre("ADDED default/a@2", "ADDED default/b@3", "ADDED default/c@4"));
}

// --- Limits ---

TEST_F(ListTest, AListIsNeverSplit) {
  options.max_group = 3;
  options.max_group_bytes = 100;
  reopen();
  const auto submit_puts = [&](int from, int count, std::size_t body) {
    std::vector<Write> list;
    for (int i = from; i < from + count; ++i)
      list.push_back(put_of(pod(std::to_string(i)), std::string(body, 'x')));
    store->submit(std::move(list), [](const ListResult& r) { ASSERT_TRUE(r); });
  };
  store->submit(remove_of(pod("no-such-pod"), 1), [&](const Result<ObjectPtr>&) {
    submit_puts(0, 2, 0);       // with the next one it would be 4
    submit_puts(10, 2, 0);      // takes one more along
    submit_puts(20, 1, 0);      //
    submit_puts(30, 5, 0);      // larger than any group: alone
    submit_puts(40, 1, 0);      //
    submit_puts(50, 1, 0);      // with the next one it would be too many bytes
    submit_puts(60, 2, 1'000);  // more bytes than any group: alone
    submit_puts(70, 1, 0);
  });
  EXPECT_THAT(platter->group_sizes(), ElementsAre(2u, 3u, 5u, 2u, 2u, 1u));
}

TEST_F(ListTest, AListThatIsTooLongIsRefused) {
  options.max_list = 3;
  reopen();
  std::vector<Write> list;
  for (int i = 0; i < 3; ++i) list.push_back(put_of(pod(std::to_string(i)), ""));
  EXPECT_TRUE(write_list(list));
  for (Write& write : list) write.key.resource = kJobs;
  list.push_back(put_of(job("one-too-many"), ""));
  const auto refused = write_list(list);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, Code::kTooLarge);
  EXPECT_EQ(refused.error().refused, std::nullopt);
  EXPECT_EQ(refused.error().error.message,
            "a list of 4 writes is too long: at most 3 can be done in one transaction");
  EXPECT_THAT(paths(*store->snapshot(), kJobs), IsEmpty());
}

TEST_F(ListTest, AListWithTooMuchTextIsRefused) {
  options.max_list_bytes = 1'000;
  reopen();
  const std::size_t around = put_of(pod("a"), "").head.size() + put_of(pod("a"), "").tail.size();
  const auto two = [&](std::size_t bytes) {
    return list_of(put_of(pod("a"), std::string(bytes / 2 - around, 'x')),
                   put_of(pod("b"), std::string(bytes / 2 - around, 'x')));
  };
  const auto refused = write_list(two(1'002));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, Code::kTooLarge);
  EXPECT_EQ(refused.error().error.message,
            "a list of writes with 1002 bytes is too large: at most 1000 can be written in one "
            "transaction");
  EXPECT_TRUE(write_list(two(1'000)));
}

// 16 KiB each, as much as the limits promise, and a second object for each.
TEST(List, AGangOf4096PodsFits) {
  const TempDirectory dir;
  Metrics metrics;
  const auto open_at = [&] {
    auto disk = open_sqlite(dir.path());
    EXPECT_TRUE(disk) << disk.error().message;
    return open_store(std::move(*disk), test_resources(), real_clock(), metrics);
  };
  std::vector<Write> list;
  for (std::size_t i = 0; i < kGang; ++i) {
    list.push_back(put_of(pod(std::to_string(i)), std::string((16u << 10) - 200, 'x')));
    list.push_back(put_of(job(std::to_string(i)), "its-event"));
  }
  {
    auto store = open_at();
    ASSERT_TRUE(store);
    const auto written = write_list_and_wait(**store, std::move(list));
    ASSERT_TRUE(written) << written.error().error.message;
    ASSERT_EQ(written->size(), 2 * kGang);
    for (std::size_t i = 0; i < written->size(); ++i)
      ASSERT_EQ((*written)[i]->revision(), kFirstRevision + 1 + i);
  }
  auto store = open_at();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->snapshot()->count(kPods, ""), kGang);
  EXPECT_EQ((*store)->snapshot()->count(kJobs, ""), kGang);
}

// --- The queue, with a thread ---

class ThreadedListTest : public StoreFixture {
 protected:
  void SetUp() override {
    options.commit_inline = false;
    options.max_queue = 4;
    open();
    // The first list is being written when the others come.
    platter->hold();
    submit("first", 1);
    platter->wait_until_an_append_waits();
  }
  void TearDown() override {
    platter->release();
    store.reset();  // before the answers, which its callbacks write to
  }
  void submit(const std::string& name, int count) {
    std::vector<Write> list;
    for (int i = 0; i < count; ++i) list.push_back(put_of(pod(fmt::format("{}-{}", name, i)), ""));
    store->submit(std::move(list), [this, name](const ListResult& answer) {
      const std::lock_guard lock(mutex_);
      answers_.push_back(name + (answer                                                ? " ok"
                                 : answer.error().error.code == Code::kTooManyRequests ? " 429"
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

TEST_F(ThreadedListTest, TheQueueCountsWritesAndLetsOneListExceedIt) {
  submit("a", 3);
  submit("b", 10);
  submit("c", 1);
  EXPECT_THAT(answers(), ElementsAre("c 429"));
  platter->release();
  store.reset();
  EXPECT_THAT(answers(), ElementsAre("c 429", "first ok", "a ok", "b ok"));
}

TEST_F(ThreadedListTest, AStoppedStoreTakesNoList) {
  platter->release();
  store->stop();
  submit("late", 2);
  EXPECT_THAT(answers(), ElementsAre("first ok", "late no"));
}

// Two writers move a gang from one generation to the next, and each loses to the other now and
// then. All readers see all members in the same one; the watcher counts whole lists.
TEST(List, NoReaderEverSeesAPart) {
  constexpr int kMembers = 50, kLists = 200, kWriters = 2, kReaders = 2;
  Metrics metrics;
  auto opened = open_store(make_memory_durability(), test_resources(), real_clock(), metrics,
                           {.max_group = 7});
  ASSERT_TRUE(opened);
  Store& store = **opened;
  const auto key_of = [](int member) {
    return member % 2 == 0 ? pod(std::to_string(member)) : job(std::to_string(member));
  };
  const auto move_on = [&](const Snapshot& now, int writer) {
    std::vector<Write> list;
    for (int member = 0; member < kMembers; ++member) {
      const ObjectPtr known = now.get(key_of(member));
      list.push_back(put_of(key_of(member), fmt::format("{}-{}", writer, now.revision()),
                            known == nullptr ? 0 : known->revision()));
    }
    return write_list_and_wait(store, std::move(list)).has_value();
  };
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] {
      while (done < kLists) {
        const SnapshotPtr now = store.snapshot();
        ASSERT_EQ((now->revision() - kFirstRevision) % kMembers, 0u);
        const ObjectPtr first = now->get(key_of(0));
        for (int member = 0; member < kMembers; ++member) {
          const ObjectPtr each = now->get(key_of(member));
          ASSERT_EQ(each == nullptr, first == nullptr);
          if (each == nullptr) continue;
          ASSERT_EQ(each->revision(), first->revision() + static_cast<Revision>(member));
        }
      }
    });
  }
  threads.emplace_back([&] {
    const auto pods = *store.watch(kPods, kFirstRevision, [] {});
    while (done < kLists) {
      const auto events = pods->poll(kAllEvents);
      ASSERT_TRUE(events) << events.error().message;
      ASSERT_EQ(events->size() % (kMembers / 2), 0u);
    }
  });
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      while (done < kLists) {
        if (move_on(*store.snapshot(), writer)) ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace list_test
}  // namespace muster::store
