// Notes beside the database up to which revision writes were acknowledged.
//
// Nothing in a write-ahead log says how long it once was: one whose last transaction is damaged, or
// whose end is cut off, reads like one that the power cut tore. This note says it. It is written
// after the sync of each group and is never synced itself. So it may be older than the data, after
// a power cut by as long as the kernel keeps a page (30 s), but never newer: data that ends before
// it has lost acknowledged writes.
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "store/durability.h"

namespace muster::store {

class AcknowledgedNote {
 public:
  // Makes the file if need be. The note is a help and no condition: one that cannot be written, as
  // on a full disk, stays as it is.
  explicit AcknowledgedNote(const std::string& directory);

  void write(Revision revision);

  // 0 if there is none, or none that can be read.
  static Revision read(const std::string& directory);

 private:
  UniqueFd file_;
};

// What is missing if data ends at `newest` and its log at a byte of its file, in words; empty if
// nothing is.
std::string describe_loss(Revision newest, Revision acknowledged, std::uint64_t log_end);

}  // namespace muster::store
