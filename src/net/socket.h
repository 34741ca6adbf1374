// TCP sockets, nonblocking and closed on exec: nothing of ours leaks into a child process.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

struct sockaddr_storage;

namespace muster::net {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

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
