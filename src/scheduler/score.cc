#include "scheduler/score.h"

#include <algorithm>
#include <unordered_map>

namespace muster::scheduler {
namespace {

using Scores = std::vector<std::int64_t>;

// Every rule gives at most so much, times its weight. Fine steps, so that pods that ask for little
// spread as well.
constexpr std::int64_t kBest = 1'000'000;
constexpr std::int64_t kTaintWeight = 3;
constexpr std::int64_t kNodeWeight = 2;
constexpr std::int64_t kPodWeight = 2;

std::int64_t share_left(std::int64_t taken, std::int64_t all) {
  if (all <= 0 || taken > all) return 0;
  return static_cast<std::int64_t>(static_cast<double>(kBest) * static_cast<double>(all - taken) /
                                   static_cast<double>(all));
}

std::int64_t room_left(const Pod& pod, const Room& room) {
  const Demand& demand = pod.wishes.demand;
  const Resources& all = room.node.allocatable;
  std::int64_t sum = 0, count = 0;
  if (all.milli_cpu > 0) {
    sum += share_left(room.likely_milli_cpu + demand.likely_milli_cpu, all.milli_cpu);
    ++count;
  }
  if (all.memory > 0) {
    sum += share_left(room.likely_memory + demand.likely_memory, all.memory);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

std::int64_t unwelcome_taints(const Pod& pod, const Room& room) {
  return std::ranges::count_if(room.node.taints, [&](const api::Taint& taint) {
    return taint.effect == "PreferNoSchedule" &&
           api::find_toleration(pod.wishes.tolerations, taint) == nullptr;
  });
}

std::int64_t node_preference(const Pod& pod, const Room& room) {
  std::int64_t sum = 0;
  for (const WeightedNodeTerm& each : pod.wishes.preferred_nodes)
    if (each.term.matches(room.node)) sum += each.weight;
  return sum;
}

// How many pods of each domain a term selects is counted once.
class Company {
 public:
  Company(const Cluster& cluster, const Pod& pod)
      : cluster_(cluster), pod_(pod), counts_(pod.wishes.preferred_pods.size()) {}

  std::int64_t preference(const Room& room) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const WeightedPodTerm& each = pod_.wishes.preferred_pods[i];
      const Domain* const domain = cluster_.domain_of(room, each.term.topology_key);
      if (domain == nullptr) continue;
      const auto [at, is_new] = counts_[i].try_emplace(domain, 0);
      if (is_new) at->second = count(*domain, each.term);
      sum += each.weight * at->second;
    }
    return sum;
  }

 private:
  std::int64_t count(const Domain& domain, const PodTerm& term) const {
    std::int64_t found = 0;
    for (const Room* room : domain.rooms) {
      found += std::ranges::count_if(
          room->pods, [&](const Pod* other) { return cluster_.selects(term, *other); });
    }
    return found;
  }

  const Cluster& cluster_;
  const Pod& pod_;
  std::vector<std::unordered_map<const Domain*, std::int64_t>> counts_;
};

// Stretches what a rule says to 0 … kBest, the lowest of all at 0, and adds it.
void add(Scores& total, const Scores& part, std::int64_t weight) {
  const auto [low, high] = std::ranges::minmax(part);
  if (low == high) return;
  const double scale = static_cast<double>(kBest) / static_cast<double>(high - low);
  for (std::size_t i = 0; i < total.size(); ++i)
    total[i] += weight * static_cast<std::int64_t>(static_cast<double>(part[i] - low) * scale);
}

}  // namespace

const Room& best(const Cluster& cluster, const Pod& pod, std::span<const Room* const> rooms) {
  if (rooms.size() == 1) return *rooms.front();
  Scores total, part(rooms.size());
  total.reserve(rooms.size());
  for (const Room* room : rooms) total.push_back(room_left(pod, *room));
  const auto weigh = [&](std::int64_t weight, const auto& rule) {
    std::ranges::transform(rooms, part.begin(), [&](const Room* room) { return rule(*room); });
    add(total, part, weight);
  };
  const bool tainted =
      std::ranges::any_of(rooms, [](const Room* room) { return !room->node.taints.empty(); });
  if (tainted) weigh(kTaintWeight, [&](const Room& room) { return -unwelcome_taints(pod, room); });
  if (!pod.wishes.preferred_nodes.empty())
    weigh(kNodeWeight, [&](const Room& room) { return node_preference(pod, room); });
  if (!pod.wishes.preferred_pods.empty()) {
    Company company(cluster, pod);
    weigh(kPodWeight, [&](const Room& room) { return company.preference(room); });
  }
  return *rooms[static_cast<std::size_t>(std::ranges::max_element(total) - total.begin())];
}

}  // namespace muster::scheduler
