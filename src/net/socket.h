// TCP sockets, nonblocking and closed on exec: nothing of ours leaks into a child process.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

struct sockaddr_storage;

namespace muster::net {

struct Endpoint {
  std::string address;  // numeric
  std::uint16_t port = 0;
};

Result<UniqueFd> listen_on(const Endpoint& endpoint);
Result<std::uint16_t> local_port(int fd);

// The next connection of a listening socket and where it comes from; an invalid descriptor if
// there is none now. Fails if the process or the machine is out of descriptors or memory.
struct Accepted {
  UniqueFd fd;
  std::string address;
};
Result<Accepted> accept_from(int listener);

// Begins to connect; the socket is writable when that has ended, in success or failure.
Result<UniqueFd> begin_connect(const Endpoint& endpoint);
Status end_connect(int fd);

// For established connections: no delay of small writes, and probes that find dead peers.
void tune_connection(int fd);

}  // namespace muster::net
