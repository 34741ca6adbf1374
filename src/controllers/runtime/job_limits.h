// How many Jobs and pods are created ahead of what runs. A JobSet may ask for 2^31-1 Jobs, a Job
// for as many pods, and each costs memory from the moment that it exists; those that have not
// started help nobody.
#pragma once

#include <cstdint>

namespace muster::controllers {

// A Job waits from its creation until one of its pods is ready or has ended.
struct JobLimits {
  // Of one JobSet. Far beyond what a machine runs, and all that upstream's users are known to ask.
  std::uint64_t waiting_of_set = 10'000;
  // Of all JobSets together; memory of a gigabyte.
  std::uint64_t waiting_of_all = 20'000;
  // A set with fewer waiting Jobs than these creates more even beyond the limit of all: others that
  // use it up do not keep a small set from its work.
  std::uint64_t waiting_in_any_case = 1'000;
};

// A pod waits from its creation until it has a node.
struct PodLimits {
  // Of one JobSet, or of a Job that belongs to none. Ten times what a node takes.
  std::uint64_t waiting_of_set = 10'000;
  // Of all of them together; memory of two thirds of a gigabyte.
  std::uint64_t waiting_of_all = 20'000;
  // As above: with fewer than these a set is not held back by others.
  std::uint64_t waiting_in_any_case = 1'000;
};

}  // namespace muster::controllers
