// Pods that want a node, in the order in which they are given one: the highest priority first, then
// the oldest, then by name.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "scheduler/views.h"

namespace muster::scheduler {

struct Turn {
  std::int64_t priority = 0;
  Time created;
  std::string ns;
  std::string name;

  static Turn of(const Pod& pod) { return {pod.priority, pod.created, pod.ns, pod.name}; }
  bool operator<(const Turn& other) const {
    return std::tie(other.priority, created, ns, name) <
           std::tie(priority, other.created, other.ns, other.name);
  }
};

// A pod in it is either fresh, to be held against every node, or has been refused by all of them
// and waits until one changes. Pods stay where they are in memory while they are in the line.
class WaitingLine {
 public:
  using Places = std::map<Turn, const Pod*>;

  void join(const Pod& pod) {
    all_[Turn::of(pod)] = &pod;
    fresh_[Turn::of(pod)] = &pod;
  }
  void leave(const Pod& pod) {
    all_.erase(Turn::of(pod));
    fresh_.erase(Turn::of(pod));
  }
  void refused(const Pod& pod) { fresh_.erase(Turn::of(pod)); }
  void refresh_all() { fresh_ = all_; }

  bool empty() const { return all_.empty(); }
  bool is_fresh(const Pod& pod) const { return fresh_.contains(Turn::of(pod)); }
  const Places& all() const { return all_; }
  const Places& fresh() const { return fresh_; }

 private:
  Places all_;
  Places fresh_;
};

}  // namespace muster::scheduler
