#include "client/work_queue.h"

#include <algorithm>

#include "base/retry_delay.h"

namespace muster::client {
namespace {
constexpr Duration kFirstBackoff = std::chrono::milliseconds(5);

// Whose turn it is: the one after the last.
template <class Map>
auto next_after(Map& map, std::string& last) {
  auto turn = map.upper_bound(last);
  if (turn == map.end()) turn = map.begin();
  last = turn->first;
  return turn;
}
}  // namespace

void WorkQueue::add(const QueueKey& key) {
  if (active_.contains(key)) {
    again_.insert(key);
    return;
  }
  if (const auto held = not_before_.find(key); held != not_before_.end()) {
    const Duration rest = held->second - loop_.monotonic();
    if (rest > Duration::zero()) return add_after(key, rest);
    not_before_.erase(held);
  }
  if (!queued_.insert(key).second) return;
  turns_[key.ns].groups[group_of_ ? group_of_(key) : std::string()].push_back(key);
  pump();
}

void WorkQueue::add_after(const QueueKey& key, Duration delay) {
  if (delay <= Duration::zero()) return add(key);
  const Duration at = loop_.monotonic() + delay;
  if (const auto wish = wishes_.find(key); wish != wishes_.end()) {
    if (wish->second.at <= at) return;
    loop_.cancel(wish->second.timer);
  }
  wishes_[key] = {at, loop_.after(delay, lifetime_.guard([this, key] {
                    wishes_.erase(key);
                    add(key);
                  }))};
}

void WorkQueue::add_failed(const QueueKey& key) {
  const int failures = failures_[key]++;
  add_after(key, retry_delay(kFirstBackoff, longest_backoff_, failures));
}

int WorkQueue::failures(const QueueKey& key) const {
  const auto at = failures_.find(key);
  return at == failures_.end() ? 0 : at->second;
}

void WorkQueue::hold_off(const QueueKey& key, Duration span) {
  const Duration until = loop_.monotonic() + span;
  not_before_[key] = until;
  loop_.after(span, lifetime_.guard([this, key, until] {
    if (const auto held = not_before_.find(key); held != not_before_.end() && held->second <= until)
      not_before_.erase(held);
  }));
}

void WorkQueue::done(const QueueKey& key) {
  active_.erase(key);
  if (again_.erase(key) != 0) add(key);
  pump();
}

void WorkQueue::pump() {
  if (std::exchange(pumping_, true)) return;
  // Posted, so that a burst of events is over before the first key is looked at.
  loop_.post(lifetime_.guard([this] {
    pumping_ = false;
    while (!queued_.empty() && static_cast<int>(active_.size()) < width_) {
      const QueueKey key = take();
      active_.insert(key);
      work_(key);
    }
  }));
}

QueueKey WorkQueue::take() {
  const auto turn = next_after(turns_, last_turn_);
  auto& groups = turn->second.groups;
  const auto group = next_after(groups, turn->second.last_group);
  QueueKey key = std::move(group->second.front());
  group->second.pop_front();
  if (group->second.empty()) groups.erase(group);
  if (groups.empty()) turns_.erase(turn);
  queued_.erase(key);
  return key;
}

}  // namespace muster::client
