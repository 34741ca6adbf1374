// Who listens at a TCP port of this machine: for messages that say why a port cannot be had.
// As good as /proc lets this user see; what is found may have changed when it is told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// A listening socket.
struct Listener {
  std::string address;  // "127.0.0.1", "::1"
  bool any_address = false;
  std::uint32_t uid = 0;  // of its owner
  std::uint64_t inode = 0;
};
// `table` is the text of /proc/net/tcp or tcp6. Pure.
std::vector<Listener> listeners_at(int port, std::string_view table);

struct PortHolder {
  Listener socket;
  int pid = 0;  // 0: this user may not see whose it is
  std::string process;
};
// Those of any address first. Empty: nobody listens there.
std::vector<PortHolder> port_holders(int port);

// "python3 (pid 4711)", "a process of user 1001".
std::string describe(const PortHolder& holder);

}  // namespace muster::agent
