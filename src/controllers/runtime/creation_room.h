// How many objects may be created ahead of what runs (JobLimits, PodLimits). Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace muster::controllers {

struct CreationRoom {
  std::size_t room = std::numeric_limits<std::size_t>::max();  // for objects yet to be created
  std::size_t limit = 0;                                       // that leaves no more room
  bool of_all = false;  // others hold the room: nothing of this set tells when there is some
};

// `of_set` objects of the set wait, and `of_all` of every set together.
template <class Limits>
CreationRoom creation_room(const Limits& limits, std::size_t of_set, std::size_t of_all) {
  const auto rest = [](std::uint64_t limit, std::size_t used) {
    return limit - std::min<std::uint64_t>(limit, used);
  };
  const std::size_t in_set = rest(limits.waiting_of_set, of_set);
  const std::size_t in_all =
      std::max(rest(limits.waiting_of_all, of_all), rest(limits.waiting_in_any_case, of_set));
  if (in_set <= in_all) return {.room = in_set, .limit = limits.waiting_of_set};
  return {.room = in_all, .limit = limits.waiting_of_all, .of_all = true};
}

}  // namespace muster::controllers
