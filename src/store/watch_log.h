// The recent changes of one resource, and the doorbells of those that read them (subscription.h).
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

// Tells a sleeping reader that there is something new. One doorbell may hang at several logs. It
// outlives its subscription if it is just being rung, hence shared.
struct Doorbell {
  explicit Doorbell(std::function<void()> on_ring) : wake(std::move(on_ring)) {}
  std::function<void()> wake;
  std::atomic<bool> armed{false};  // the reader has polled since it was last woken
};

class WatchLog {
 public:
  // History begins after `floor`.
  explicit WatchLog(Revision floor) : floor_(floor), dropped_(floor) {}

  // Any thread. Appends up to `max` events after `after` and up to `visible` to `events`. Returns
  // the revision up to which these are all events of this resource.
  Result<Revision> read(Revision after, Revision visible, std::size_t max,
                        std::vector<Event>& events) const;
  // The map of this resource as of `revision`, which is not newer than `newest`: undoes the events
  // since.
  Result<ObjectMap> as_of(Revision revision, ObjectMap map, Revision newest) const;
  Revision floor() const;
  // kExpired if the history after `after` is gone.
  Status hang(std::shared_ptr<Doorbell> doorbell, Revision after);
  void take_down(const Doorbell& doorbell);

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
  std::unexpected<Error> expired(Revision revision) const;                 // under mutex_
  std::deque<Entry>::const_iterator first_after(Revision revision) const;  // under mutex_

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  Revision floor_;
  Revision dropped_;  // the last event that was taken out; not above the floor
  std::vector<std::shared_ptr<Doorbell>> doorbells_;  // in the order of subscription
};

}  // namespace muster::store
