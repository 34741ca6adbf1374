// The ports of a node that its pods hold. A question costs a few lookups, whatever the number of
// ports: a pod may name tens of thousands.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/views.h"

namespace muster::scheduler {

class HostPorts {
 public:
  void add(const std::vector<HostPort>& ports) {
    for (const HostPort& port : ports) ++taken_[key_of(port)][port.ip];
  }

  // REQUIRES: the same ports have been added before.
  void remove(const std::vector<HostPort>& ports) {
    for (const HostPort& port : ports) {
      const auto at = taken_.find(key_of(port));
      const auto address = at->second.find(port.ip);
      if (--address->second == 0) at->second.erase(address);
      if (at->second.empty()) taken_.erase(at);
    }
  }

  // A port on all addresses clashes with the same port on any of them.
  bool clash(const HostPort& wanted) const {
    const auto at = taken_.find(key_of(wanted));
    if (at == taken_.end()) return false;
    return wanted.ip == kAnyAddress || at->second.contains(wanted.ip) ||
           at->second.contains(kAnyAddress);
  }

 private:
  using Key = std::pair<std::int64_t, std::string>;  // port and protocol
  static Key key_of(const HostPort& port) { return {port.port, port.protocol}; }

  // How many pods hold the port, by address.
  std::map<Key, std::map<std::string, std::size_t, std::less<>>> taken_;
};

}  // namespace muster::scheduler
