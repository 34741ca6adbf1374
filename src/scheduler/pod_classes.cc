#include "scheduler/pod_classes.h"

#include <algorithm>
#include <functional>
#include <string>

namespace muster::scheduler {
namespace {

// A client may choose wishes whose hashes are equal. More comparisons than these are not made: the
// pod gets a class of its own then, which costs time later and nothing else.
constexpr int kMostComparisons = 16;

std::size_t hash_of(const Pod& pod) {
  const Wishes& wishes = pod.wishes;
  std::size_t hash = 0;
  const auto mix = [&](const auto& part) {
    hash = hash * 1'000'003 + std::hash<std::decay_t<decltype(part)>>()(part);
  };
  mix(pod.ns);
  mix(pod.group);
  const Resources& requests = wishes.demand.requests;
  mix(requests.milli_cpu);
  mix(requests.memory);
  mix(requests.ephemeral_storage);
  for (const auto& [name, amount] : requests.others) mix(amount);
  for (const auto& [key, value] : wishes.node_selector) mix(value);
  mix(wishes.tolerations.size());
  mix(wishes.ports.size());
  return hash;
}

}  // namespace

PodClass PodClasses::enter(const Pod& pod) {
  const std::size_t hash = hash_of(pod);
  int comparisons = 0;
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at) {
    if (++comparisons > kMostComparisons) break;
    Class& known = classes_.at(at->second);
    if (known.ns != pod.ns || known.group != pod.group || known.wishes != pod.wishes) continue;
    ++known.members;
    return at->second;
  }
  classes_.emplace(
      ++last_,
      Class{.ns = pod.ns, .group = pod.group, .wishes = pod.wishes, .hash = hash, .members = 1});
  by_hash_.emplace(hash, last_);
  return last_;
}

void PodClasses::leave(PodClass id) {
  const auto at = classes_.find(id);
  if (--at->second.members > 0) return;
  const auto [from, to] = by_hash_.equal_range(at->second.hash);
  by_hash_.erase(std::find_if(from, to, [id](const auto& each) { return each.second == id; }));
  classes_.erase(at);
}

std::size_t most_at_once(const Resources& requests, const Resources& allocatable) {
  std::int64_t most = allocatable.pods;
  const auto bound = [&](std::int64_t asked, std::int64_t all) {
    if (asked > 0) most = std::min(most, all / asked);
  };
  bound(requests.milli_cpu, allocatable.milli_cpu);
  bound(requests.memory, allocatable.memory);
  bound(requests.ephemeral_storage, allocatable.ephemeral_storage);
  for (const auto& [name, asked] : requests.others) bound(asked, allocatable.other(name));
  return static_cast<std::size_t>(std::max<std::int64_t>(most, 0));
}

}  // namespace muster::scheduler
