#include "cli/tools/sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/clock.h"

namespace muster::cli {
namespace {

constexpr useconds_t kRetryMicroseconds = 20'000;

std::unexpected<Error> failed(std::string_view what) {
  return fail(Code::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

Result<sockaddr_in> address_of(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(host.c_str(), port.empty() ? nullptr : port.c_str(), &hints, &found);
  if (error != 0)
    return fail(Code::kUnavailable,
                fmt::format("cannot resolve {}: {}", host, ::gai_strerror(error)));
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  ::freeaddrinfo(found);
  return address;
}

UniqueFd new_socket() {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

// As /proc/net/tcp writes an end: the address as a number in the machine's order.
std::string end_text(const sockaddr_in& end) {
  return fmt::format("{:08X}:{:04X}", end.sin_addr.s_addr, ntohs(end.sin_port));
}

}  // namespace

Result<std::string> resolve(const std::string& host) {
  MUSTER_TRY(const sockaddr_in address, address_of(host, ""));
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return std::string(text.data());
}

Result<UniqueFd> listen_at(const std::string& host, const std::string& port) {
  MUSTER_TRY(const sockaddr_in address, address_of(host, port));
  UniqueFd socket = new_socket();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return failed(fmt::format("cannot listen at {}:{}", host, port));
  }
  return socket;
}

Result<UniqueFd> accept_from(int listener) {
  UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0) return failed("accept");
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Result<UniqueFd> connect_to(const std::string& host, const std::string& port, Duration patience) {
  const Duration until = monotonic_now() + patience;
  while (true) {
    Result<sockaddr_in> address = address_of(host, port);
    UniqueFd socket = new_socket();
    const bool connected =
        address &&
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
    if (connected) return socket;
    if (monotonic_now() >= until) {
      if (!address) return std::unexpected(address.error());
      return failed(fmt::format("cannot connect to {}:{}", host, port));
    }
    ::usleep(kRetryMicroseconds);
  }
}

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return failed("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Status receive_all(int socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("receive");
    if (got == 0) return fail(Code::kUnavailable, "the other side has gone");
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

std::string receive_text(int socket) {
  std::string out(kMaxText, '\0');
  std::size_t length = 0;
  while (length < out.size()) {
    const ssize_t got = ::recv(socket, out.data() + length, out.size() - length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  out.resize(length);
  return out;
}

Result<unsigned> peer_user(int socket) {
  sockaddr_in ours{}, theirs{};
  socklen_t length = sizeof ours;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &length) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &(length = sizeof theirs)) != 0) {
    return failed("who is at the other end");
  }
  // On the other side's row the ends are the other way round.
  const std::string local = end_text(theirs), remote = end_text(ours);
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, here, there, state, queues, timer, retransmits;
    unsigned user = 0;
    if (fields >> number >> here >> there >> state >> queues >> timer >> retransmits >> user &&
        here == local && there == remote) {
      return user;
    }
  }
  return fail(Code::kForbidden, "nobody on this machine is at the other end");
}

}  // namespace muster::cli
