// All watch logs together: how long events stay, and what on disk nobody needs any more.
//
// Not thread-safe, but for log(): the store's writer holds the store's history lock.
#pragma once

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "store/watch_log.h"

namespace muster::store {

// What an object costs in memory, with its node in the map.
std::size_t memory_of(const Object& object);

class History {
 public:
  History(std::size_t resources, Revision floor, const Options& options);

  WatchLog& log(int resource) const { return *shared_log(resource); }
  const std::shared_ptr<WatchLog>& shared_log(int resource) const {
    return logs_[static_cast<std::size_t>(resource)];
  }

  void append(int resource, Event event, Time now);
  // Drops what has fallen out of the window. `live_bytes`: what all living objects take.
  void trim(Time now, std::size_t live_bytes);
  // Drops the events of a resource up to a revision; its history begins after it.
  void drop_through(int resource, Revision floor);
  void compact(Revision newest);

  std::size_t bytes() const { return bytes_; }

  // Revisions whose rows may go: superseded ones and deletions, of events that have been dropped. A
  // deletion always comes after what it deleted, or else a crash between two batches would bring
  // that back.
  struct Garbage {
    std::vector<Revision> revisions;
    std::vector<std::pair<int, Revision>> floors;  // by resource; those that have risen
  };
  std::size_t garbage_count() const { return garbage_.size(); }
  Garbage garbage(std::size_t max) const;
  void forgotten(const Garbage& garbage);
  void add_garbage(Revision revision) { garbage_.push_back(revision); }

 private:
  std::size_t expired_count(const WatchLog& log, Time now) const;
  std::size_t allowed_bytes(std::size_t live_bytes) const;
  void drop_front(int resource, std::size_t count);
  int resource_of_oldest_event() const;

  const Options options_;
  std::vector<std::shared_ptr<WatchLog>> logs_;
  std::size_t bytes_ = 0;
  std::deque<Revision> garbage_;
  std::set<int> risen_floors_;
};

}  // namespace muster::store
