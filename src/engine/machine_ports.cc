#include "engine/machine_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <string>

#include "base/number.h"
#include "base/unique_fd.h"
#include "controllers/jobset/master_port.h"

namespace muster::engine {
namespace {

// An IPv6 socket that takes IPv4 too is in the way of everybody, and everybody in its way.
bool can_listen_everywhere(int port) {
  const UniqueFd both(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int off = 0;
  if (both.valid() && ::setsockopt(both.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) {
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    any.sin6_port = htons(static_cast<std::uint16_t>(port));
    return ::bind(both.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
  }
  const UniqueFd old(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(old.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

// Where the kernel was told to use all of them, there is nothing to avoid.
PortRange ports_to_avoid() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/net/ipv4/ip_local_port_range"), text);
  const PortRange range = port_range(text);
  using controllers::jobset::kFirstMasterPort, controllers::jobset::kLastMasterPort;
  const bool all = range.contains(kFirstMasterPort) && range.contains(kLastMasterPort);
  return all ? PortRange{} : range;
}

}  // namespace

PortRange port_range(std::string_view text) {
  PortRange range;
  for (int* const bound : {&range.first, &range.last}) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    const auto number = parse_number<int>(word);
    if (!number) return {};
    *bound = *number;
    text.remove_prefix(word.size());
  }
  return range;
}

controllers::PortIsFree ports_of_this_machine() {
  return [avoid = ports_to_avoid()](int port) {
    return !avoid.contains(port) && can_listen_everywhere(port);
  };
}

}  // namespace muster::engine
