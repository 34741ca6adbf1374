// Nodes that pods name and that nobody has seen for a while. A node that was only slow to register,
// or is being replaced, gets time to come (back).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::controllers::podgc {

class MissingNodes {
 public:
  static constexpr Duration kQuarantine = std::chrono::seconds(40);

  // All that are missing now (by Loop::monotonic()); returns those that have been for long enough.
  std::vector<std::string> update(const std::set<std::string>& missing, Duration now) {
    std::erase_if(since_, [&](const auto& each) { return !missing.contains(each.first); });
    std::vector<std::string> due;
    for (const std::string& name : missing) {
      if (since_.try_emplace(name, now).first->second + kQuarantine <= now) due.push_back(name);
    }
    return due;
  }

 private:
  std::map<std::string, Duration> since_;
};

}  // namespace muster::controllers::podgc
