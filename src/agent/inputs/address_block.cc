#include "agent/inputs/address_block.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <functional>

#include "base/errno_error.h"
#include "base/replace_file.h"

namespace muster::agent {
namespace {

// Not valid if somebody else has it.
Result<UniqueFd> bind_name(std::string_view prefix, int number) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return errno_error("socket");
  const std::string name = fmt::format("{}-127.{}", prefix, number);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(&address.sun_path[1],
            sizeof(address.sun_path) - 1);  // after the null that says abstract
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  if (errno == EADDRINUSE) return UniqueFd();
  return errno_error(fmt::format("locking the addresses 127.{}.0.0/16", number));
}

// The same.
Result<UniqueFd> lock_file(const std::string& folder, int number) {
  const std::string path = fmt::format("{}/127.{}", folder, number);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd.valid() && errno == EWOULDBLOCK) return UniqueFd();
  return errno_error(path);
}

int read_choice(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, 8> text{};
  const ssize_t size = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : -1;
  int number = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, number);
  return number;
}

}  // namespace

Result<std::optional<AddressBlock::Held>> AddressBlock::lock(const AddressLocks& locks, int number,
                                                             bool needs_name) {
  Held held;
  if (!locks.folder.empty()) {
    MUSTER_TRY(held.file, lock_file(locks.folder, number));
    if (!held.file.valid()) return std::nullopt;
  }
  MUSTER_TRY(held.name, bind_name(locks.name, number));
  if (needs_name && !held.name.valid()) return std::nullopt;
  return held;
}

Result<AddressBlock> AddressBlock::take(const std::string& file, const AddressLocks& locks) {
  constexpr int kBlocks = kLast - kFirst + 1;
  const int chosen = read_choice(file);
  const bool has_chosen = chosen >= kFirst && chosen <= kLast;
  // Servers begin to look at different places, so that one rarely gets what another one, stopped
  // for a moment, had.
  const int first =
      has_chosen ? chosen : kFirst + static_cast<int>(std::hash<std::string>{}(file) % kBlocks);
  // If all names are taken, a pod has done that, or 254 servers run: then it matters less whether
  // servers of another user have the block, too.
  const int rounds = locks.folder.empty() ? 1 : 2;
  for (int i = 0; i < rounds * kBlocks; ++i) {
    const int number = kFirst + (first - kFirst + i) % kBlocks;
    MUSTER_TRY(auto held, lock(locks, number, i < kBlocks));
    if (!held) continue;
    if (number != chosen) MUSTER_CHECK(replace_file(file, fmt::format("{}\n", number)));
    return AddressBlock(number, *std::move(held));
  }
  return fail(Code::kUnavailable,
              fmt::format("all {} blocks of loopback addresses are taken by other servers of this "
                          "machine",
                          kBlocks));
}

}  // namespace muster::agent
