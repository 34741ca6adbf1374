#include "store/watch_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::store {

// How a sleeping reader is told that there is something new. Outlives its subscription if it is
// just being rung, hence shared.
struct WatchLog::Doorbell {
  std::function<void()> wake;
  std::atomic<bool> armed{false};  // the reader has polled since it was last woken
};

class WatchLog::Reader final : public Subscription {
 public:
  Reader(std::shared_ptr<WatchLog> log, Revision after, std::uint64_t id,
         std::shared_ptr<Doorbell> doorbell)
      : log_(std::move(log)), position_(after), id_(id), doorbell_(std::move(doorbell)) {}

  ~Reader() override {
    const std::lock_guard lock(log_->mutex_);
    log_->doorbells_.erase(id_);
  }

  Result<std::vector<Event>> poll(std::size_t max) override {
    // Armed before looking: what is published after the look finds it armed, and rings.
    doorbell_->armed.store(true);
    return log_->read(position_, max);
  }

  Revision position() const override { return position_; }

 private:
  const std::shared_ptr<WatchLog> log_;
  Revision position_;
  const std::uint64_t id_;
  const std::shared_ptr<Doorbell> doorbell_;
};

std::deque<WatchLog::Entry>::const_iterator WatchLog::first_after(Revision revision) const {
  return std::ranges::upper_bound(entries_, revision, {},
                                  [](const Entry& e) { return e.event.revision; });
}

std::unexpected<Error> WatchLog::expired(Revision revision) const {
  return fail(Code::kExpired, fmt::format("too old resource version: {} ({})", revision, floor_));
}

Result<std::vector<Event>> WatchLog::read(Revision& after, std::size_t max) const {
  // Taken before the lock: every event up to here is in the log by now.
  const Revision visible = newest_->revision();
  std::vector<Event> events;
  const std::lock_guard lock(mutex_);
  if (after < dropped_) return expired(after);
  auto entry = first_after(after);
  for (; entry != entries_.end() && entry->event.revision <= visible && events.size() < max;
       ++entry) {
    events.push_back(entry->event);
  }
  const bool more = entry != entries_.end() && entry->event.revision <= visible;
  if (!more) {
    after = std::max(after, visible);
  } else if (!events.empty()) {
    after = events.back().revision;
  }
  return events;
}

Result<ObjectMap> WatchLog::as_of(Revision revision, ObjectMap map, Revision newest) const {
  std::vector<Event> undo;
  {
    const std::lock_guard lock(mutex_);
    if (revision < floor_)
      return fail(Code::kExpired, "The resourceVersion for the provided list is too old.");
    const auto end = first_after(newest);
    for (auto entry = first_after(revision); entry != end; ++entry) undo.push_back(entry->event);
  }
  for (auto event = undo.rbegin(); event != undo.rend(); ++event) undo_change(map, *event);
  return map;
}

Revision WatchLog::floor() const {
  const std::lock_guard lock(mutex_);
  return floor_;
}

Result<std::unique_ptr<Subscription>> WatchLog::subscribe(Revision after,
                                                          std::function<void()> wake) {
  auto doorbell = std::make_shared<Doorbell>(std::move(wake));
  const std::lock_guard lock(mutex_);
  if (after < floor_) return expired(after);
  const std::uint64_t id = next_doorbell_++;
  doorbells_.emplace(id, doorbell);
  return std::make_unique<Reader>(shared_from_this(), after, id, std::move(doorbell));
}

void WatchLog::append(Event event, Time now) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(event), now});
}

void WatchLog::wake() {
  std::vector<std::shared_ptr<Doorbell>> to_ring;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, doorbell] : doorbells_) {
      if (doorbell->armed.exchange(false)) to_ring.push_back(doorbell);
    }
  }
  // Outside the lock: a wake that happens to hold the last reference to a stream ends its
  // subscription.
  for (const auto& doorbell : to_ring) doorbell->wake();
}

std::vector<Event> WatchLog::drop_front(std::size_t count) {
  std::vector<Event> dropped;
  const std::lock_guard lock(mutex_);
  for (; count > 0; --count) {
    dropped_ = entries_.front().event.revision;
    dropped.push_back(std::move(entries_.front().event));
    entries_.pop_front();
  }
  floor_ = std::max(floor_, dropped_);
  return dropped;
}

void WatchLog::raise_floor(Revision floor) {
  const std::lock_guard lock(mutex_);
  MUSTER_ASSERT(entries_.empty() || entries_.front().event.revision > floor,
                "events below the floor");
  floor_ = std::max(floor_, floor);
}

}  // namespace muster::store
