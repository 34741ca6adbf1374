// Pods that want a node, in the order in which they are given one: the highest priority first, then
// the oldest, then by name.
#pragma once

#include <set>
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
// and waits until one changes.
class WaitingLine {
 public:
  using Turns = std::set<Turn>;

  void join(const Turn& turn) {
    all_.insert(turn);
    fresh_.insert(turn);
  }
  void leave(const Turn& turn) {
    all_.erase(turn);
    fresh_.erase(turn);
  }
  void refused(const Turn& turn) { fresh_.erase(turn); }
  void refresh(const Turn& turn) { fresh_.insert(turn); }  // it is in the line
  void refresh_all() { fresh_ = all_; }

  bool empty() const { return all_.empty(); }
  bool is_fresh(const Turn& turn) const { return fresh_.contains(turn); }
  const Turns& all() const { return all_; }
  const Turns& fresh() const { return fresh_; }

 private:
  Turns all_;
  Turns fresh_;
};

}  // namespace muster::scheduler
