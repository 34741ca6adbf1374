#include "server/event_expiry.h"

#include <algorithm>

#include "server/object_write.h"
#include "server/render.h"

namespace muster::server {
namespace {

constexpr Duration kLifetime = std::chrono::hours(1);
constexpr Duration kSweepEvery = std::chrono::minutes(1);

// When the event was last heard of.
Time last_change(const store::Object& event, const api::Resource& events) {
  Time last = event.meta().creation_time.value_or(Time{});
  json::Arena arena;
  const json::Value tree = tree_of(arena, event, events);
  for (const json::Value time : {tree.get("lastTimestamp"), tree.get("eventTime"),
                                 tree.get({"series", "lastObservedTime"})}) {
    last = std::max(last, parse_time(time.as_string()).value_or(Time{}));
  }
  return last;
}

}  // namespace

void EventExpiry::sweep_if_due(store::Store& store, const api::Registry& registry, Time now) {
  const std::int64_t at = now.time_since_epoch().count();
  std::int64_t due = next_sweep_.load();
  if (at < due || !next_sweep_.compare_exchange_strong(due, at + kSweepEvery.count())) return;
  const api::Resource& events = *registry.find("", "v1", "events");
  const Time deadline = now - kLifetime;
  store.snapshot()->scan(events.id, {}, [&](const store::ObjectPtr& event) {
    const bool old = event->meta().creation_time.value_or(Time{}) < deadline;
    if (!old || last_change(*event, events) >= deadline) return true;
    // Whoever changes the event meanwhile keeps it: the removal names the version that has expired.
    store.submit(delete_write(*event, events), [](const Result<store::ObjectPtr>&) {});
    return true;
  });
}

}  // namespace muster::server
