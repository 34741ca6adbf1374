#include "runtime/borrowed_memory.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace muster::runtime {

pid_t BorrowedMemory::lend(int (*child)(void*), void* argument) {
  const pid_t pid =
      clone(child, stack_.data() + stack_.size(), CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD,
            argument, nullptr, nullptr, &lent_);
  if (pid < 0) return -1;
  while (lent_.load() != 0) syscall(SYS_futex, &lent_, FUTEX_WAIT, 1, nullptr, nullptr, 0);
  return pid;
}

void BorrowedMemory::give_back() {
  lent_.store(0);
  syscall(SYS_futex, &lent_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace muster::runtime
