#include "agent/inputs/address_block.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>

#include "base/errno_error.h"

namespace muster::agent {
namespace {

// Not valid if somebody else has it.
Result<UniqueFd> lock_block(std::string_view lock_name, int number) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return errno_error("socket");
  const std::string name = fmt::format("{}-127.{}", lock_name, number);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(&address.sun_path[1],
            sizeof(address.sun_path) - 1);  // after the null that says abstract
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  if (errno == EADDRINUSE) return UniqueFd();
  return errno_error(fmt::format("locking the addresses 127.{}.0.0/16", number));
}

int read_choice(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, 8> text{};
  const ssize_t size = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : -1;
  int number = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, number);
  return number;
}

// By way of a second file: a crash leaves the old choice or the new one.
Status write_choice(const std::string& file, int number) {
  const std::string draft = file + ".new";
  const std::string text = fmt::format("{}\n", number);
  {
    const UniqueFd fd(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.valid() && ::write(fd.get(), text.data(), text.size()) == std::ssize(text) &&
        ::rename(draft.c_str(), file.c_str()) == 0)
      return {};
  }
  return errno_error(fmt::format("writing {}", file));
}

}  // namespace

Result<AddressBlock> AddressBlock::take(const std::string& file, std::string_view lock_name) {
  constexpr int kBlocks = kLast - kFirst + 1;
  const int chosen = read_choice(file);
  const bool has_chosen = chosen >= kFirst && chosen <= kLast;
  // Servers begin to look at different places, so that one rarely gets what another one, stopped
  // for a moment, had.
  const int first =
      has_chosen ? chosen : kFirst + static_cast<int>(std::hash<std::string>{}(file) % kBlocks);
  for (int i = 0; i < kBlocks; ++i) {
    const int number = kFirst + (first - kFirst + i) % kBlocks;
    MUSTER_TRY(UniqueFd lock, lock_block(lock_name, number));
    if (!lock.valid()) continue;
    if (number != chosen) MUSTER_CHECK(write_choice(file, number));
    return AddressBlock(number, std::move(lock));
  }
  return fail(Code::kUnavailable,
              fmt::format("all {} blocks of loopback addresses are taken by other servers of this "
                          "machine",
                          kBlocks));
}

}  // namespace muster::agent
