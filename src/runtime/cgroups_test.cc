#include "runtime/cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/unique_fd.h"

namespace muster::runtime {
namespace cgroups_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kMemoryDevices = 1;  // /dev/null, /dev/zero …

const Ability& device_rules(const std::vector<Ability>& abilities) {
  return *std::ranges::find(abilities, kDeviceRules, &Ability::name);
}

// A process enters the pod's groups, and cannot open a device from then on.
void expect_denied(const Cgroups& groups) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool before = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid();
    const Status entered = groups.enter_pod("u", 0);
    groups.deny_devices("u", {kMemoryDevices});
    const bool after = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid();
    ::_exit(before && entered && !after && errno == EPERM ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)).valid()) << "only the pod's";
  groups.remove_pod("u");
}

std::string test_group() { return fmt::format("muster-test-{}", ::getpid()); }

TEST(Cgroups, ADeniedDeviceCannotBeOpened) {
  const Cgroups groups = Cgroups::find(test_group());
  const auto abilities = groups.abilities();
  if (!device_rules(abilities).available) GTEST_SKIP() << device_rules(abilities).detail;
  expect_denied(groups);
}

// As on a machine that has no groups of version 1, whatever this one has.
TEST(Cgroups, ADeniedDeviceCannotBeOpenedWithVersion2Alone) {
  std::string mounts, point;
  std::ifstream lines("/proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    mounts += line + "\n";
    std::istringstream words(line);
    for (int i = 0; i < 5; ++i) words >> point;
  }
  const Cgroups groups = Cgroups::find(test_group(), mounts);
  const auto abilities = groups.abilities();
  const Ability& rules = device_rules(abilities);
  ASSERT_THAT(rules.detail, Not(HasSubstr("Invalid argument"))) << "the program itself is refused";
  if (!rules.available) GTEST_SKIP() << rules.detail;
  EXPECT_THAT(rules.detail, HasSubstr("by programs in the kernel"));
  expect_denied(groups);
  EXPECT_FALSE(std::filesystem::exists(point + "/" + test_group())) << "nothing is left";
}

TEST(Cgroups, WithoutGroupsItIsSaid) {
  const auto abilities = Cgroups::find(test_group(), "").abilities();
  EXPECT_FALSE(device_rules(abilities).available);
  EXPECT_EQ(device_rules(abilities).detail, "no control groups are mounted");
}

}  // namespace cgroups_test
}  // namespace muster::runtime
