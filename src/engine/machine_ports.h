// The ports of this machine, which all local pods share.
#pragma once

#include <string_view>

#include "controllers/runtime/port_is_free.h"

namespace muster::engine {

struct PortRange {
  int first = 0;
  int last = -1;
  bool contains(int port) const { return first <= port && port <= last; }
};
// Of the text of ip_local_port_range; nothing is in the range if it makes no sense. Pure.
PortRange port_range(std::string_view text);

// Free is a port at which one can listen at every address, and which the kernel does not give to
// whoever asks for any.
controllers::PortIsFree ports_of_this_machine();

}  // namespace muster::engine
