#include "store/history.h"

#include <algorithm>
#include <limits>

namespace muster::store {
namespace {

// What the log itself holds because of an event: the version that it supersedes, and a deleted
// object's last.
std::size_t cost_of(const Event& event) {
  std::size_t bytes = sizeof(WatchLog::Entry);
  if (event.previous) bytes += memory_of(*event.previous);
  if (event.type == Event::Type::kDeleted) bytes += memory_of(*event.object);
  return bytes;
}

}  // namespace

std::size_t memory_of(const Object& object) {
  constexpr std::size_t kSharedCount = 16, kNodeAndBlockHeaders = 96;
  return sizeof(Object) + kSharedCount + kNodeAndBlockHeaders + object.bytes().capacity() +
         object.path().capacity();
}

History::History(std::size_t resources, Revision floor, const Options& options)
    : options_(options) {
  for (std::size_t i = 0; i < resources; ++i) logs_.push_back(std::make_shared<WatchLog>(floor));
}

void History::append(int resource, Event event, Time now) {
  event.resource = resource;
  bytes_ += cost_of(event);
  log(resource).append(std::move(event), now);
}

void History::trim(Time now, std::size_t live_bytes) {
  for (int resource = 0; resource < static_cast<int>(logs_.size()); ++resource) {
    drop_front(resource, expired_count(log(resource), now));
  }
  const std::size_t allowed = allowed_bytes(live_bytes);
  while (bytes_ > allowed) {
    const int resource = resource_of_oldest_event();
    if (resource < 0) break;
    drop_front(resource, 1);
  }
}

std::size_t History::expired_count(const WatchLog& log, Time now) const {
  const auto& entries = log.entries();
  std::size_t count = 0;
  while (entries.size() - count > options_.history_events &&
         now - entries[count].at > options_.history_age)
    ++count;
  return count;
}

std::size_t History::allowed_bytes(std::size_t live_bytes) const {
  const std::size_t least = std::min(options_.history_least_bytes, options_.history_bytes);
  return std::clamp(live_bytes / 4, least, options_.history_bytes);
}

int History::resource_of_oldest_event() const {
  int found = -1;
  Revision oldest = std::numeric_limits<Revision>::max();
  for (int resource = 0; resource < static_cast<int>(logs_.size()); ++resource) {
    const auto& entries = log(resource).entries();
    if (entries.empty() || entries.front().event.revision >= oldest) continue;
    oldest = entries.front().event.revision;
    found = resource;
  }
  return found;
}

void History::drop_front(int resource, std::size_t count) {
  if (count == 0) return;
  for (const Event& event : log(resource).drop_front(count)) {
    bytes_ -= cost_of(event);
    if (event.previous) garbage_.push_back(event.previous->revision());
    if (event.type == Event::Type::kDeleted) garbage_.push_back(event.revision);
  }
  risen_floors_.insert(resource);
}

void History::drop_through(int resource, Revision floor) {
  const auto& entries = log(resource).entries();
  std::size_t count = 0;
  while (count < entries.size() && entries[count].event.revision <= floor) ++count;
  drop_front(resource, count);
  log(resource).raise_floor(floor);
  risen_floors_.insert(resource);
}

void History::compact(Revision newest) {
  for (int resource = 0; resource < static_cast<int>(logs_.size()); ++resource)
    drop_through(resource, newest);
}

History::Garbage History::garbage(std::size_t max) const {
  Garbage result;
  const auto count = static_cast<std::ptrdiff_t>(std::min(max, garbage_.size()));
  result.revisions.assign(garbage_.begin(), garbage_.begin() + count);
  for (const int resource : risen_floors_)
    result.floors.emplace_back(resource, log(resource).floor());
  return result;
}

void History::forgotten(const Garbage& garbage) {
  garbage_.erase(garbage_.begin(),
                 garbage_.begin() + static_cast<std::ptrdiff_t>(garbage.revisions.size()));
  for (const auto& [resource, floor] : garbage.floors) {
    if (log(resource).floor() == floor) risen_floors_.erase(resource);
  }
}

}  // namespace muster::store
