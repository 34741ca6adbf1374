#include "base/thread.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster {
namespace {

TEST(Thread, RunsItsBody) {
  int seen = 0;
  auto started = start_thread([&] { seen = 7; });
  ASSERT_TRUE(started);
  started->join();
  EXPECT_EQ(seen, 7);
}

// In a child without room for a stack: limits of processes do not hold for root.
TEST(Thread, OneThatCannotBeHadIsAnError) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit nothing{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    setrlimit(RLIMIT_AS, &nothing);
    const auto started = start_thread([] {});
    _exit(!started && started.error().code == Code::kUnavailable ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace muster
