// The plain values of a scenario's file, each refused with its line if it is not what it should be.
#pragma once

#include "base/time.h"
#include "sim/place.h"

namespace muster::sim {

inline constexpr int kMostOfAScenario = 10'000;  // nodes, exit codes: more is a slip

Result<Duration> read_duration(const Place& place, Duration fallback);
Result<std::string> read_text(const Place& place);  // empty if it is missing
Result<int> read_number(const Place& place, int least, int fallback);

template <typename T>
Result<std::vector<T>> read_list(const Place& list, Result<T> (*read)(const Place&)) {
  if (!list.is_missing() && !list.value().is_array()) return list.wrong("must be a list");
  std::vector<T> out;
  for (const Place& entry : list.items()) {
    MUSTER_TRY(T each, read(entry));
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace muster::sim
