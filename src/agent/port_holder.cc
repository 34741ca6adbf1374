#include "agent/port_holder.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/number.h"
#include "runtime/read_file.h"

namespace muster::agent {
namespace {

constexpr std::string_view kListening = "0A";

// The kernel's columns; the number of the socket is the tenth.
constexpr std::size_t kLocalAddress = 1, kState = 3, kUser = 7, kInode = 9, kColumns = 10;

std::array<std::string_view, kColumns> columns(std::string_view line) {
  std::array<std::string_view, kColumns> out;
  for (std::string_view& column : out) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    column = line.substr(0, line.find(' '));
    line.remove_prefix(column.size());
  }
  return out;
}

// Words of 32 bits, each written as this machine reads it.
std::optional<std::string> address_text(std::string_view hex) {
  std::array<std::uint32_t, 4> words{};
  const std::size_t count = hex.size() / 8;
  if (hex.size() % 8 != 0 || (count != 1 && count != words.size())) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = parse_number<std::uint32_t>(hex.substr(i * 8, 8), 16);
    if (!word) return std::nullopt;
    words[i] = *word;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(count == 1 ? AF_INET : AF_INET6, words.data(), text.data(), text.size());
  return text.data();
}

std::optional<Listener> listener(int port, std::string_view line) {
  const auto column = columns(line);
  if (column[kState] != kListening) return std::nullopt;
  const std::string_view local = column[kLocalAddress];
  const std::size_t colon = local.find(':');
  if (colon == local.npos || parse_number<int>(local.substr(colon + 1), 16) != port)
    return std::nullopt;
  const auto address = address_text(local.substr(0, colon));
  const auto uid = parse_number<std::uint32_t>(column[kUser]);
  const auto inode = parse_number<std::uint64_t>(column[kInode]);
  if (!address || !uid || !inode) return std::nullopt;
  return Listener{.address = *address,
                  .any_address = *address == "0.0.0.0" || *address == "::",
                  .uid = *uid,
                  .inode = *inode};
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::vector<int> processes() {
  std::vector<int> pids;
  const Folder folder(::opendir("/proc"));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (const auto pid = parse_number<int>(entry->d_name)) pids.push_back(*pid);
  }
  std::ranges::sort(pids);
  return pids;
}

// Of the sockets that a process has open. None if this user may not see them.
std::vector<std::uint64_t> sockets_of(int pid) {
  constexpr std::string_view kPrefix = "socket:[";
  std::vector<std::uint64_t> inodes;
  const Folder folder(::opendir(fmt::format("/proc/{}/fd", pid).c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    std::array<char, 64> text{};  // longer ones are no sockets
    const ssize_t size =
        ::readlinkat(::dirfd(folder.get()), entry->d_name, text.data(), text.size());
    if (size <= 0) continue;
    std::string_view link(text.data(), static_cast<std::size_t>(size));
    if (!link.starts_with(kPrefix) || !link.ends_with(']')) continue;
    link.remove_prefix(kPrefix.size());
    link.remove_suffix(1);
    if (const auto inode = parse_number<std::uint64_t>(link)) inodes.push_back(*inode);
  }
  return inodes;
}

// A socket may be shared with children: it belongs to the one with the lowest number, which as a
// rule is the oldest.
void find_processes(std::vector<PortHolder>& holders) {
  std::size_t unknown = holders.size();
  for (const int pid : processes()) {
    if (unknown == 0) return;
    for (const std::uint64_t inode : sockets_of(pid)) {
      const auto held = [&](const PortHolder& each) {
        return each.pid == 0 && each.socket.inode == inode;
      };
      const auto found = std::ranges::find_if(holders, held);
      if (found == holders.end()) continue;
      found->pid = pid;
      found->process = runtime::read_file(fmt::format("/proc/{}/comm", pid));
      if (found->process.ends_with('\n')) found->process.pop_back();
      --unknown;
    }
  }
}

}  // namespace

std::vector<Listener> listeners_at(int port, std::string_view table) {
  std::vector<Listener> out;
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    if (auto found = listener(port, line)) out.push_back(*std::move(found));
  }
  return out;
}

std::vector<PortHolder> port_holders(int port) {
  std::vector<PortHolder> out;
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (Listener& socket : listeners_at(port, runtime::read_file(table)))
      out.push_back({.socket = std::move(socket)});
  }
  std::ranges::stable_sort(out, [](const PortHolder& a, const PortHolder& b) {
    return a.socket.any_address && !b.socket.any_address;
  });
  find_processes(out);
  return out;
}

std::string describe(const PortHolder& holder) {
  if (holder.pid == 0) return fmt::format("a process of user {}", holder.socket.uid);
  return fmt::format("{} (pid {})", holder.process, holder.pid);
}

}  // namespace muster::agent
