// A block of loopback addresses that no other server on this machine has.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::agent {

class AddressBlock {
 public:
  // 127.0.0.0/16 is everyone's (127.0.0.1, 127.0.0.53, 127.0.1.1), the last one holds the broadcast
  // address.
  static constexpr int kFirst = 1;
  static constexpr int kLast = 254;
  static constexpr std::string_view kLockName = "muster-addresses";

  // The block that the file names if it is free, else the next free one, which is then written to
  // the file. It is free again when this process has ended, however it ends: the kernel keeps the
  // lock, a name in the abstract space of unix sockets, where the addresses are: in the network
  // namespace. Who uses another `lock_name` does not see the blocks of others.
  static Result<AddressBlock> take(const std::string& file, std::string_view lock_name = kLockName);

  int number() const { return number_; }

 private:
  AddressBlock(int number, UniqueFd lock) : number_(number), lock_(std::move(lock)) {}

  int number_;
  UniqueFd lock_;
};

}  // namespace muster::agent
