#include "runtime/borrowed_rights.h"

#include <fmt/format.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace muster::runtime {
namespace {

// Past the C library, which changes the groups of all threads.
bool set_own_groups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

std::vector<gid_t> current_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  const int got = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(got, 0)));
  return groups;
}

// The calls return what was before, also when they refuse: only a further one tells.
bool set_file_user(uid_t uid, gid_t gid) {
  setfsgid(gid);
  setfsuid(uid);
  return static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1))) == uid &&
         static_cast<gid_t>(setfsgid(static_cast<gid_t>(-1))) == gid;
}

}  // namespace

BorrowedRights::BorrowedRights(const User& user) {
  if (geteuid() != 0 || user.uid == 0) return;
  own_groups_ = current_groups();
  dumpable_ = prctl(PR_GET_DUMPABLE);
  borrowed_ = set_own_groups({user.groups.begin(), user.groups.end()});
  if (borrowed_ && set_file_user(user.uid, user.gid)) return;
  status_ = fail(Code::kForbidden, fmt::format("cannot act as user {}", user.uid));
}

BorrowedRights::~BorrowedRights() {
  if (!borrowed_) return;
  MUSTER_ASSERT(set_file_user(0, getegid()) && set_own_groups(own_groups_),
                "root is root again when it wants to");
  // The kernel has set it to what it is for programs with borrowed rights.
  prctl(PR_SET_DUMPABLE, dumpable_ == 1 ? 1 : 0);
}

}  // namespace muster::runtime
