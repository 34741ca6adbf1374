// Pods of one group (a JobSet) that ask for the same get the same answer from a node. They are one
// class, and what was found out for one of them need not be found out for fifty thousand.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "scheduler/views.h"

namespace muster::scheduler {

class PodClasses {
 public:
  struct Class {
    std::string ns;
    std::string group;
    Wishes wishes;
    std::size_t hash = 0;
    std::size_t members = 0;  // with a node or without
    Duration grew{};          // when the last surplus pod came, by monotonic time

    // How many could run at once if all nodes were empty: with the places that are reserved for
    // others, and without. As of a state of the nodes.
    std::size_t could_run = 0;
    std::size_t could_run_politely = 0;
    std::uint64_t as_of = 0;
  };

  // The class of this pod, which gets one member more.
  PodClass enter(const Pod& pod);
  void leave(PodClass id);
  Class& at(PodClass id) { return classes_.at(id); }
  const Class& at(PodClass id) const { return classes_.at(id); }

 private:
  std::map<PodClass, Class> classes_;
  std::unordered_multimap<std::size_t, PodClass> by_hash_;  // only looked up
  PodClass last_ = 0;
};

// Of pods with these requests, so many could be on the node at once if it were empty.
std::size_t most_at_once(const Resources& requests, const Resources& allocatable);

}  // namespace muster::scheduler
