// A block of loopback addresses that no other server on this machine has.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::agent {

// How servers find out what others have.
struct AddressLocks {
  // For locked files, one per block: what counts among servers of one user (lock_folder.h). Empty:
  // there is no such folder, and names alone count.
  std::string folder;
  // Of names in the abstract space of unix sockets, which all users of the network namespace share.
  // Any pod can bind them, so they only say which blocks are better left to others.
  std::string name = "muster-addresses";
};

class AddressBlock {
 public:
  // 127.0.0.0/16 is everyone's (127.0.0.1, 127.0.0.53, 127.0.1.1), the last one holds the broadcast
  // address.
  static constexpr int kFirst = 1;
  static constexpr int kLast = 254;

  // The block that the file names if it is free, else the next free one, which is then written to
  // the file. It is free again when this process has ended, however it ends: the kernel keeps the
  // locks.
  static Result<AddressBlock> take(const std::string& file, const AddressLocks& locks);

  int number() const { return number_; }

 private:
  struct Held {
    UniqueFd file;
    UniqueFd name;
  };
  AddressBlock(int number, Held held) : number_(number), held_(std::move(held)) {}
  static Result<std::optional<Held>> lock(const AddressLocks& locks, int number, bool needs_name);

  int number_;
  Held held_;
};

}  // namespace muster::agent
