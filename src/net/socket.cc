#include "net/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "net/names.h"

namespace muster::net {
namespace {

// A peer that vanished without a word is found dead after about two minutes.
constexpr int kProbeAfterSeconds = 60;
constexpr int kProbeEverySeconds = 15;
constexpr int kProbes = 4;

constexpr int kBacklog = 4096;  // the kernel lowers it to net.core.somaxconn

std::unexpected<Error> system_failure(std::string_view what) {
  return fail(Code::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

std::string text_of(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.contains(':');
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.address, v6 ? "]" : "", endpoint.port);
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<SocketAddress> socket_address(const Endpoint& endpoint) {
  const std::string bytes = address_bytes(endpoint.address);
  SocketAddress address;
  if (bytes.size() == 4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
    address.size = sizeof v4;
  } else if (bytes.size() == 16) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
    address.size = sizeof v6;
  } else {
    return fail(Code::kBadRequest,
                fmt::format("\"{}\" is not a numeric address", endpoint.address));
  }
  return address;
}

std::string address_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    return address_text({reinterpret_cast<const char*>(&v4.sin_addr), 4});
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {  // IPv4 on a socket that takes both
    return address_text({reinterpret_cast<const char*>(&v6.sin6_addr) + 12, 4});
  }
  return address_text({reinterpret_cast<const char*>(&v6.sin6_addr), 16});
}

void set_option(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

UniqueFd open_socket(const SocketAddress& address) {
  return UniqueFd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

// Without SO_REUSEPORT on purpose: a second server on the same port has to fail loudly.
Result<UniqueFd> listen_on(const Endpoint& endpoint) {
  MUSTER_TRY(const SocketAddress address, socket_address(endpoint));
  UniqueFd fd = open_socket(address);
  if (!fd.valid()) return system_failure("cannot open a socket");
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(fd.get(), address.get(), address.size) != 0 || listen(fd.get(), kBacklog) != 0) {
    return system_failure("cannot listen on " + text_of(endpoint));
  }
  return fd;
}

Result<std::uint16_t> local_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return system_failure("cannot ask for the port of a socket");
  }
  const bool v4 = storage.ss_family == AF_INET;
  return ntohs(v4 ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                  : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
}

Result<Accepted> accept_from(int listener) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  const int fd =
      accept4(listener, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) return Accepted{UniqueFd(fd), address_of(storage)};
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    return system_failure("cannot accept a connection");
  }
  return Accepted{};  // nothing there, or it went away before we came
}

Result<UniqueFd> begin_connect(const Endpoint& endpoint) {
  MUSTER_TRY(const SocketAddress address, socket_address(endpoint));
  UniqueFd fd = open_socket(address);
  if (!fd.valid()) return system_failure("cannot open a socket");
  if (connect(fd.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return system_failure("cannot connect to " + text_of(endpoint));
  }
  return fd;
}

Status end_connect(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return {};
  return fail(Code::kUnavailable, fmt::format("cannot connect: {}", std::strerror(error)));
}

void tune_connection(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeEverySeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

}  // namespace muster::net
