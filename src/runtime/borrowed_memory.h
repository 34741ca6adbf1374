// A child process that uses its parent's memory instead of a copy until it executes a program, as
// after vfork, but may also give it back earlier and go on beside its parent.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace muster::runtime {

// ThreadSanitizer keeps its books about a thread in that memory, too.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kCanGiveBack = false;
#else
inline constexpr bool kCanGiveBack = true;
#endif

class BorrowedMemory {
 public:
  BorrowedMemory() {}  // the stack stays untouched
  BorrowedMemory(const BorrowedMemory&) = delete;
  BorrowedMemory& operator=(const BorrowedMemory&) = delete;

  // Runs `child` on a stack of its own in a new process. Returns when that has executed a program,
  // has ended or has given the memory back; -1 and errno if it cannot be made. For a process with
  // one thread, once; this object, which is large, lies on its stack and outlives the child.
  pid_t lend(int (*child)(void*), void* argument);

  // For the child. From here on it must not ask for memory nor free any, and errno is not its own;
  // what it has on its stack or has asked for before stays its own.
  void give_back();

 private:
  // Many times what is needed; the rest is never there.
  static constexpr std::size_t kStackSize = 128 << 10;
  alignas(16) std::array<std::byte, kStackSize> stack_;
  std::atomic<std::uint32_t> lent_ = 1;  // the kernel makes it 0 if the child executes or ends
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace muster::runtime
