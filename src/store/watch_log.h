// The recent changes of one resource, and those who read them.
//
// The commit thread appends events before it publishes the snapshot that contains them; readers are
// shown nothing beyond the newest snapshot. So whoever sees an event also finds its effect in the
// snapshot.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "store/snapshot.h"

namespace muster::store {

// The newest snapshot, handed from the commit thread to everyone.
class Newest {
 public:
  explicit Newest(std::shared_ptr<const State> state)
      : state_(std::move(state)), revision_(state_->revision()) {}

  std::shared_ptr<const State> get() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  Revision revision() const { return revision_.load(); }
  void set(std::shared_ptr<const State> state) {
    const Revision revision = state->revision();
    {
      const std::lock_guard lock(mutex_);
      state_.swap(state);
    }
    revision_.store(revision);
  }  // the old state is released here, outside the lock

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const State> state_;
  std::atomic<Revision> revision_;
};

class WatchLog : public std::enable_shared_from_this<WatchLog> {
 public:
  // History begins after `floor`.
  WatchLog(std::shared_ptr<const Newest> newest, Revision floor)
      : newest_(std::move(newest)), floor_(floor), dropped_(floor) {}

  // Any thread. `after` is moved to the revision up to which the reader has now seen everything.
  Result<std::vector<Event>> read(Revision& after, std::size_t max) const;
  // The map of this resource as of `revision`, which is not newer than `newest`: undoes the events
  // since.
  Result<ObjectMap> as_of(Revision revision, ObjectMap map, Revision newest) const;
  Revision floor() const;
  Result<std::unique_ptr<Subscription>> subscribe(Revision after, std::function<void()> wake);

  // By the store's writer only, one call at a time.
  void append(Event event, Time now);
  void wake();
  struct Entry {
    Event event;
    Time at;
  };
  // The events that are there, oldest first. The writer may look without a lock: nobody else
  // changes them.
  const std::deque<Entry>& entries() const { return entries_; }
  // Takes the oldest events out. The floor rises to the last of them.
  std::vector<Event> drop_front(std::size_t count);
  // Refuses new readers at earlier revisions. Those who are subscribed and have missed nothing go
  // on.
  void raise_floor(Revision floor);

 private:
  class Reader;
  struct Doorbell;

  std::unexpected<Error> expired(Revision revision) const;                 // under mutex_
  std::deque<Entry>::const_iterator first_after(Revision revision) const;  // under mutex_

  const std::shared_ptr<const Newest> newest_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  Revision floor_;
  Revision dropped_;  // the last event that was taken out; not above the floor
  std::map<std::uint64_t, std::shared_ptr<Doorbell>> doorbells_;  // in the order of subscription
  std::uint64_t next_doorbell_ = 0;
};

}  // namespace muster::store
