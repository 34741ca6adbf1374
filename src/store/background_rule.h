// Looks at the records of a start while the disk is still being read.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "store/durability.h"
#include "store/store.h"

namespace muster::store {

// Applies a rule to records on a thread of its own: to parse objects takes about half as long as to
// read them, so a start with many waits for the disk only. Few records need no thread, and a system
// that gives none costs only time.
class BackgroundRule {
 public:
  // So many records are handed over at once: enough that waking a thread does not count.
  static constexpr std::size_t kBatch = 1'024;

  explicit BackgroundRule(RecordRule rule) : rule_(rule) {}  // null: nothing is a fault
  ~BackgroundRule() { stop(); }
  BackgroundRule(const BackgroundRule&) = delete;

  // `resource` must outlive this object. Not after finish().
  void add(ObjectPtr object, std::string_view resource);
  // Waits until all were looked at. The fault of the first record that has one, or empty.
  std::string finish();

 private:
  struct Pending {
    ObjectPtr object;
    std::string_view resource;
  };
  using Batch = std::vector<Pending>;

  void hand_over();
  void judge(const Batch& batch);
  void run();
  void stop();

  const RecordRule rule_;
  Batch batch_;
  std::thread thread_;  // begins with the first full batch
  bool threadless_ = false;
  std::string fault_;  // of the thread's while it runs

  std::mutex mutex_;
  std::condition_variable changed_;
  // Bounded by what is loaded: the objects are in memory anyway.
  std::vector<Batch> waiting_;
  bool ended_ = false;
};

}  // namespace muster::store
