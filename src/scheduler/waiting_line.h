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
  struct Place {
    const Pod* pod = nullptr;
    bool fresh = true;
  };
  using Places = std::map<Turn, Place>;

  void join(const Pod& pod) {
    all_[Turn::of(pod)] = {.pod = &pod, .fresh = true};
    fresh_[Turn::of(pod)] = {.pod = &pod, .fresh = true};
  }
  void leave(const Pod& pod) {
    all_.erase(Turn::of(pod));
    fresh_.erase(Turn::of(pod));
  }
  void refused(const Pod& pod) {
    all_.at(Turn::of(pod)).fresh = false;
    fresh_.erase(Turn::of(pod));
  }
  void refresh_all() {
    for (auto& [turn, place] : all_) place.fresh = true;
    fresh_ = all_;
  }

  bool empty() const { return all_.empty(); }
  const Places& all() const { return all_; }
  const Places& fresh() const { return fresh_; }

 private:
  Places all_;
  Places fresh_;
};

}  // namespace muster::scheduler
