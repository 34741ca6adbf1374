#include "base/thread.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster {
namespace thread_test {

TEST(Thread, RunsItsBody) {
  int seen = 0;
  auto started = start_thread([&] { seen = 7; });
  ASSERT_TRUE(started);
  started->join();
  EXPECT_EQ(seen, 7);
}

// In a child of a user who may have one process: limits do not hold for root.
TEST(Thread, OneThatCannotBeHadIsAnError) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kStranger = 54321;
    if (geteuid() == 0 && setuid(kStranger) != 0) _exit(2);
    const rlimit one{.rlim_cur = 1, .rlim_max = 1};
    setrlimit(RLIMIT_NPROC, &one);
    const auto started = start_thread([] {});
    _exit(!started && started.error().code == Code::kUnavailable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace thread_test
}  // namespace muster
