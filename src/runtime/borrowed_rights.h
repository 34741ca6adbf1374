// Files seen with the eyes of another user: what he could not reach by himself is not reached.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// While it lives, this thread, and no other one, has that user's rights to files. Only root can
// lend them; for everybody else it changes nothing, and the rights are the process's own.
//
// The kernel takes the parent death signal from a thread that changes users, also in this way.
class BorrowedRights {
 public:
  explicit BorrowedRights(const User& user);
  ~BorrowedRights();
  BorrowedRights(const BorrowedRights&) = delete;

  // Refused for users that a user namespace does not know: nothing may be opened then.
  const Status& status() const { return status_; }

 private:
  Status status_;
  bool borrowed_ = false;
  int dumpable_ = 0;
  std::vector<gid_t> own_groups_;
};

}  // namespace muster::runtime
