#include "base/byte_pool.h"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

void count_share(std::map<std::string, std::size_t>& shares, const std::string& key,
                 std::size_t before, std::size_t after) {
  if (key.empty() || before == after) return;
  const auto share = shares.try_emplace(key, 0).first;
  share->second += after - before;
  if (share->second == 0) shares.erase(share);
}

std::size_t share_of(const std::map<std::string, std::size_t>& shares, const std::string& key) {
  const auto share = shares.find(key);
  return share == shares.end() ? 0 : share->second;
}

}  // namespace

BytePool::Id BytePool::enter(Client client, Time now, Displace displace) {
  const std::lock_guard lock(mutex_);
  holdings_.emplace_hint(
      holdings_.end(), ++last_,
      Holding{.client = std::move(client), .began = now, .displace = std::move(displace)});
  return last_;
}

bool BytePool::resize(Id id, std::size_t bytes, Time now) { return try_resize(id, bytes, now); }

bool BytePool::resize_if_free(Id id, std::size_t bytes) {
  return try_resize(id, bytes, std::nullopt);
}

bool BytePool::try_resize(Id id, std::size_t bytes, std::optional<Time> now) {
  Displaced displaced;
  bool fits = false;
  {
    const std::lock_guard lock(mutex_);
    const auto holding = holdings_.find(id);
    if (holding == holdings_.end()) return false;  // displaced
    const std::size_t before = std::exchange(holding->second.bytes, bytes);
    count(holding->second.client, before, bytes);
    fits = bytes <= before || make_room(id, now, displaced);
    if (!fits) {
      count(holding->second.client, bytes, before);
      holding->second.bytes = before;
    }
  }
  for (const auto& [other, displace] : displaced) displace(other);
  return fits;
}

void BytePool::keep(Id id) {
  const std::lock_guard lock(mutex_);
  if (const auto holding = holdings_.find(id); holding != holdings_.end())
    holding->second.kept = true;
}

void BytePool::leave(Id id) {
  const std::lock_guard lock(mutex_);
  if (const auto holding = holdings_.find(id); holding != holdings_.end()) forget(holding);
}

bool BytePool::displace_oldest(Time now) {
  std::pair<Id, Displace> displaced;
  {
    const std::lock_guard lock(mutex_);
    const auto oldest =
        std::ranges::find_if(holdings_, [](const auto& entry) { return !entry.second.kept; });
    if (oldest == holdings_.end() || now - oldest->second.began < limits_.patience) return false;
    displaced = {oldest->first, std::move(oldest->second.displace)};
    forget(oldest);
  }
  displaced.second(displaced.first);
  return true;
}

std::size_t BytePool::bytes() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

void BytePool::count(const Client& client, std::size_t before, std::size_t after) {
  total_ += after - before;
  count_share(by_address_, client.address, before, after);
  count_share(by_identity_, client.identity, before, after);
}

void BytePool::forget(Holdings::iterator holding) {
  count(holding->second.client, holding->second.bytes, 0);
  holdings_.erase(holding);
}

// Displaces the oldest holdings that count against the bound that is exceeded, the narrowest bound
// first: a client makes room for itself before others do. Without a time it displaces none.
bool BytePool::make_room(Id id, std::optional<Time> now, Displaced& displaced) {
  const Client& client = holdings_.at(id).client;
  const std::size_t own = holdings_.at(id).bytes;
  for (;;) {
    const std::size_t of_identity = share_of(by_identity_, client.identity);
    const std::size_t of_address = share_of(by_address_, client.address);
    const bool over_identity = of_identity > limits_.per_identity && of_identity > own;
    const bool over_address = of_address > limits_.per_address && of_address > own;
    if (!over_identity && !over_address && (total_ <= limits_.total || total_ == own)) return true;
    const auto oldest = std::ranges::find_if(holdings_, [&](const auto& entry) {
      const Holding& other = entry.second;
      if (entry.first == id || other.kept || other.bytes == 0) return false;
      if (over_identity) return other.client.identity == client.identity;
      return !over_address || other.client.address == client.address;
    });
    if (!now || oldest == holdings_.end() || *now - oldest->second.began < limits_.patience)
      return false;
    displaced.emplace_back(oldest->first, std::move(oldest->second.displace));
    forget(oldest);
  }
}

}  // namespace muster
