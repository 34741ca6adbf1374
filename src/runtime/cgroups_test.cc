#include "runtime/cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unique_fd.h"

namespace muster::runtime {
namespace {

constexpr int kMemoryDevices = 1;  // /dev/null, /dev/zero …

TEST(Cgroups, ADeniedDeviceCannotBeOpened) {
  const std::string name = fmt::format("muster-test-{}", ::getpid());
  const Cgroups groups = Cgroups::find(name);
  const auto abilities = groups.abilities();
  const auto rules = std::ranges::find(abilities, kDeviceRules, &Ability::name);
  ASSERT_NE(rules, abilities.end());
  if (!rules->available) GTEST_SKIP() << rules->detail;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool before = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid();
    groups.deny_devices("u", {kMemoryDevices});
    const bool after = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid();
    ::_exit(before && !after && errno == EPERM ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid()) << "only the pod's";
  groups.remove_pod("u");
}

}  // namespace
}  // namespace muster::runtime
