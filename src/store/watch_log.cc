#include "store/watch_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::store {

std::deque<WatchLog::Entry>::const_iterator WatchLog::first_after(Revision revision) const {
  return std::ranges::upper_bound(entries_, revision, {},
                                  [](const Entry& e) { return e.event.revision; });
}

std::unexpected<Error> WatchLog::expired(Revision revision) const {
  return fail(Code::kExpired, fmt::format("too old resource version: {} ({})", revision, floor_));
}

Result<Revision> WatchLog::read(Revision after, Revision visible, std::size_t max,
                                std::vector<Event>& events) const {
  const std::lock_guard lock(mutex_);
  if (after < dropped_) return expired(after);
  Revision complete = after;
  for (auto entry = first_after(after); entry != entries_.end() && entry->event.revision <= visible;
       ++entry, --max) {
    if (max == 0) return complete;
    events.push_back(entry->event);
    complete = entry->event.revision;
  }
  return std::max(after, visible);
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

Status WatchLog::hang(std::shared_ptr<Doorbell> doorbell, Revision after) {
  const std::lock_guard lock(mutex_);
  if (after < floor_) return expired(after);
  doorbells_.push_back(std::move(doorbell));
  return {};
}

void WatchLog::take_down(const Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  std::erase_if(doorbells_, [&](const auto& each) { return each.get() == &doorbell; });
}

void WatchLog::append(Event event, Time now) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(event), now});
}

void WatchLog::wake() {
  std::vector<std::shared_ptr<Doorbell>> to_ring;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& doorbell : doorbells_) {
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
