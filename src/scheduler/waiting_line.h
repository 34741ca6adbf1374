// Pods that want a node, in the order in which they are given one: the highest priority first, then
// those that others do not have to wait for (Pod::surplus), then the oldest, then by name.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <tuple>

#include "scheduler/views.h"

namespace muster::scheduler {

struct Turn {
  std::int64_t priority = 0;
  bool surplus = false;
  Time created;
  std::string ns;
  std::string name;

  static Turn of(const Pod& pod) {
    return {pod.priority, pod.surplus, pod.created, pod.ns, pod.name};
  }
  bool operator<(const Turn& other) const {
    return std::tie(other.priority, surplus, created, ns, name) <
           std::tie(priority, other.surplus, other.created, other.ns, other.name);
  }
};

// Pods that no node tells apart.
struct Kin {
  PodClass cls = 0;
  bool surplus = false;

  static Kin of(const Pod& pod) { return {pod.cls, pod.surplus}; }
  auto operator<=>(const Kin&) const = default;
};

// A pod in it is either fresh, to be held against every node, or has been refused by all of them
// and waits until one changes. Pods stay where they are in memory while they are in the line.
class WaitingLine {
 public:
  using Places = std::map<Turn, const Pod*>;

  void join(const Pod& pod) {
    const Turn turn = Turn::of(pod);
    if (all_.insert_or_assign(turn, &pod).second) ++members_[Kin::of(pod)];
    fresh_[turn] = &pod;
  }
  void leave(const Pod& pod) {
    const Kin kin = Kin::of(pod);
    if (all_.erase(Turn::of(pod)) != 0 && --members_[kin] == 0) members_.erase(kin);
    fresh_.erase(Turn::of(pod));
  }
  void refused(const Pod& pod) { fresh_.erase(Turn::of(pod)); }
  void refresh_all() { fresh_ = all_; }

  bool empty() const { return all_.empty(); }
  bool is_fresh(const Pod& pod) const { return fresh_.contains(Turn::of(pod)); }
  const Places& all() const { return all_; }
  const Places& fresh() const { return fresh_; }
  // How many of a kin there are.
  std::size_t members(const Kin& kin) const {
    const auto at = members_.find(kin);
    return at == members_.end() ? 0 : at->second;
  }

 private:
  Places all_;
  Places fresh_;
  std::map<Kin, std::size_t> members_;
};

}  // namespace muster::scheduler
