#include "agent/inputs/address_pool.h"

#include <arpa/inet.h>
#include <fmt/format.h>

namespace muster::agent {
namespace {

constexpr std::uint32_t kHosts = 254;

}  // namespace

void AddressPool::remember(const std::string& name, std::uint32_t address) {
  if (const auto old = address_of_.find(name); old != address_of_.end())
    name_of_.erase(old->second);
  if (const auto old = name_of_.find(address); old != name_of_.end())
    address_of_.erase(old->second);
  address_of_[name] = address;
  name_of_[address] = name;
}

Result<std::uint32_t> AddressPool::take(const std::string& name,
                                        std::optional<std::uint32_t> known) {
  if (!known) {
    MUSTER_TRY(known, choose(name));
  }
  remember(name, *known);
  ++in_use_[*known];
  return *known;
}

void AddressPool::release(std::uint32_t address) {
  const auto at = in_use_.find(address);
  MUSTER_ASSERT(at != in_use_.end(), "an address is given back once");
  if (--at->second == 0) in_use_.erase(at);
}

// In the first round, addresses that are remembered for other names are left to them.
Result<std::uint32_t> AddressPool::choose(const std::string& name) {
  const auto last = address_of_.find(name);
  if (last != address_of_.end() && last->second >> 16 == address(0) >> 16 &&
      !in_use_.contains(last->second))
    return last->second;
  for (std::uint32_t tried = 0; tried < 2 * kAddresses; ++tried) {
    const std::uint32_t candidate = address(next_);
    const bool is_free =
        !in_use_.contains(candidate) && (all_were_used_ || !name_of_.contains(candidate));
    next_ = (next_ + 1) % kAddresses;
    if (next_ == 0) all_were_used_ = true;
    if (is_free) return candidate;
  }
  return fail(Code::kUnavailable, fmt::format("all addresses of 127.{}.0.0/16 are in use", block_));
}

std::uint32_t AddressPool::address(std::uint32_t index) const {
  return (127U << 24) | (static_cast<std::uint32_t>(block_) << 16) | ((index / kHosts + 1) << 8) |
         (index % kHosts + 1);
}

std::string address_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

Result<std::uint32_t> parse_address(std::string_view text) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, std::string(text).c_str(), &parsed) != 1)
    return fail(Code::kInvalid, fmt::format("\"{}\" is no IPv4 address", text));
  return ntohl(parsed.s_addr);
}

}  // namespace muster::agent
