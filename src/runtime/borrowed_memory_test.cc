#include "runtime/borrowed_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace muster::runtime {
namespace borrowed_memory_test {

struct Child {
  BorrowedMemory memory;
  int pipe = -1;
  std::atomic<bool> was_here = false;
};

int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(BorrowedMemory, WaitsForTheEnd) {
  Child child;
  const pid_t pid = child.memory.lend(
      [](void* it) {
        static_cast<Child*>(it)->was_here = true;
        return 3;
      },
      &child);
  EXPECT_TRUE(child.was_here);
  EXPECT_EQ(WEXITSTATUS(wait_for(pid)), 3);
}

TEST(BorrowedMemory, WaitsForTheExec) {
  Child child;
  const pid_t pid = child.memory.lend(
      [](void* it) {
        static_cast<Child*>(it)->was_here = true;
        execl("/bin/sleep", "sleep", "1000", nullptr);
        return 1;
      },
      &child);
  EXPECT_TRUE(child.was_here);
  kill(pid, SIGTERM);  // its own signals, its own end
  EXPECT_EQ(WTERMSIG(wait_for(pid)), SIGTERM);
}

TEST(BorrowedMemory, IsBackWhileTheChildGoesOn) {
  if (!kCanGiveBack) GTEST_SKIP() << "not under ThreadSanitizer";
  Child child;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  child.pipe = ends[0];
  const pid_t pid = child.memory.lend(
      [](void* it) {
        auto& self = *static_cast<Child*>(it);
        self.memory.give_back();
        char byte = 0;
        return read(self.pipe, &byte, 1) == 1 ? byte : -1;
      },
      &child);
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0);
  EXPECT_EQ(write(ends[1], "\5", 1), 1);
  EXPECT_EQ(WEXITSTATUS(wait_for(pid)), 5);
  close(ends[0]);
  close(ends[1]);
}

TEST(BorrowedMemory, IsBackWhenTheChildIsKilled) {
  Child child;
  const pid_t pid = child.memory.lend([](void*) { return kill(getpid(), SIGKILL); }, &child);
  EXPECT_EQ(WTERMSIG(wait_for(pid)), SIGKILL);
}

}  // namespace borrowed_memory_test
}  // namespace muster::runtime
