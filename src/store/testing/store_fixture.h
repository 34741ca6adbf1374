// Verbs for tests of the store: put, remove, text, events.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "store/durability.h"
#include "store/open_store.h"
#include "store/testing/fake_disk.h"

namespace muster::store::testing {

// The resources of every test, by id.
constexpr int kPods = 0;
constexpr int kJobs = 1;
constexpr int kNodes = 2;
inline std::vector<ResourceName> test_resources() {
  return {{"", "pods"}, {"batch", "jobs"}, {"", "nodes"}};
}

inline Key pod(std::string name, std::string ns = "default") {
  return {kPods, std::move(ns), std::move(name)};
}
inline Key job(std::string name, std::string ns = "default") {
  return {kJobs, std::move(ns), std::move(name)};
}
inline Key node(std::string name) { return {kNodes, "", std::move(name)}; }

// The texts in a test are {"rv":"<revision>","v":"<body>"}.
inline Write put_of(Key key, std::string_view body, Revision expected = 0) {
  return {.op = Write::Op::kPut,
          .key = std::move(key),
          .expected = expected,
          .head = R"({"rv":")",
          .tail = fmt::format(R"(","v":"{}"}})", body)};
}
inline Write remove_of(Key key, Revision expected, std::string_view body = "gone") {
  Write write = put_of(std::move(key), body, expected);
  write.op = Write::Op::kDelete;
  return write;
}
inline std::string text_of(Revision revision, std::string_view body) {
  return fmt::format(R"({{"rv":"{}","v":"{}"}})", revision, body);
}

// Submits and waits for the answer; from any thread but the commit thread.
inline Result<ObjectPtr> write_and_wait(Store& store, Write write) {
  std::promise<Result<ObjectPtr>> promise;
  auto answer = promise.get_future();
  store.submit(std::move(write),
               [&](Result<ObjectPtr> result) { promise.set_value(std::move(result)); });
  return answer.get();
}

inline ListResult write_list_and_wait(Store& store, std::vector<Write> list) {
  std::promise<ListResult> promise;
  auto answer = promise.get_future();
  store.submit(std::move(list), [&](ListResult result) { promise.set_value(std::move(result)); });
  return answer.get();
}

// "ADDED default/a@2", one per event.
inline std::string describe(const Event& event) {
  static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED"};
  return fmt::format("{} {}@{}", kNames[static_cast<int>(event.type)], event.object->path(),
                     event.revision);
}
inline std::vector<std::string> describe(const Result<std::vector<Event>>& events) {
  if (!events) return {fmt::format("error: {}", events.error().message)};
  std::vector<std::string> lines;
  for (const Event& event : *events) lines.push_back(describe(event));
  return lines;
}

inline std::vector<std::string> paths(const Snapshot& snapshot, int resource,
                                      const Snapshot::Range& range = {}) {
  std::vector<std::string> found;
  snapshot.scan(resource, range,
                [&](const ObjectPtr& object) { return found.push_back(object->path()), true; });
  return found;
}

// A store that commits within submit(), over a disk that survives reopen().
class StoreFixture : public ::testing::Test {
 protected:
  StoreFixture() {
    options.commit_inline = true;
    options.history_age = Duration::zero();
  }

  void open() {
    store.reset();
    auto opened =
        open_store(std::make_unique<FakeDisk>(platter), test_resources(), clock, metrics, options);
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
  }
  void reopen() { open(); }

  Result<ObjectPtr> put(Key key, std::string_view body, Revision expected = 0) {
    return write_and_wait(*store, put_of(std::move(key), body, expected));
  }
  Result<ObjectPtr> remove(Key key, Revision expected) {
    return write_and_wait(*store, remove_of(std::move(key), expected));
  }
  ListResult write_list(std::vector<Write> list) {
    return write_list_and_wait(*store, std::move(list));
  }
  // The whole group in one transaction: submitted from a callback, so that they wait together.
  std::vector<Result<ObjectPtr>> write_group(std::vector<Write> writes) {
    std::vector<Result<ObjectPtr>> answers(writes.size(), Result<ObjectPtr>(nullptr));
    store->submit(remove_of(pod("no-such-pod"), 1), [&](const Result<ObjectPtr>&) {
      for (std::size_t i = 0; i < writes.size(); ++i) {
        store->submit(std::move(writes[i]),
                      [&answers, i](Result<ObjectPtr> r) { answers[i] = std::move(r); });
      }
    });
    return answers;
  }

  Options options;
  ManualClock clock{Time{}};
  Metrics metrics;
  std::shared_ptr<FakePlatter> platter = std::make_shared<FakePlatter>();
  std::unique_ptr<Store> store;
};

}  // namespace muster::store::testing
