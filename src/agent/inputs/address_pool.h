// Which pod has which address of a block. Pure.
//
// A name gets the address that it had last, unless that is in use. Others go round through the
// block, so that an address that was given back rests as long as possible before somebody else has
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::agent {

class AddressPool {
 public:
  // Numbers go from 1 to 254 in both lower bytes, so that no address looks like that of a network.
  static constexpr std::uint32_t kAddresses = 254 * 254;

  explicit AddressPool(int block) : block_(block) {}  // 127.<block>.0.0/16

  void remember(const std::string& name, std::uint32_t address);
  // `known` is kept, also if it is not of this block.
  Result<std::uint32_t> take(const std::string& name, std::optional<std::uint32_t> known);
  void release(std::uint32_t address);

 private:
  Result<std::uint32_t> choose(const std::string& name);
  std::uint32_t address(std::uint32_t index) const;

  int block_;
  std::uint32_t next_ = 0;
  bool all_were_used_ = false;
  std::map<std::uint32_t, int> in_use_;  // by how many pods
  // The last address of a name and the last name of an address: at most one of each.
  std::map<std::string, std::uint32_t> address_of_;
  std::map<std::uint32_t, std::string> name_of_;
};

std::string address_text(std::uint32_t address);  // in the host's byte order
Result<std::uint32_t> parse_address(std::string_view text);

}  // namespace muster::agent
