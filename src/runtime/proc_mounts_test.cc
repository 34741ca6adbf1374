#include "runtime/proc_mounts.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "base/unique_fd.h"

namespace muster::runtime {
namespace proc_mounts_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMountInfo =
    "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
    "23 22 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
    "24 22 0:22 / /sys rw - sysfs sysfs rw\n"
    "25 22 0:21 /sys /srv/a\\040b/proc ro master:1 - proc none rw\n";

TEST(ProcMounts, AreFoundBelowAFolder) {
  EXPECT_THAT(proc_mounts_below("/", kMountInfo), ElementsAre("proc", "srv/a b/proc"));
  EXPECT_THAT(proc_mounts_below("/srv/a b", kMountInfo), ElementsAre("proc"));
  EXPECT_THAT(proc_mounts_below("//srv/", kMountInfo), ElementsAre("a b/proc"));
  EXPECT_THAT(proc_mounts_below("/sr", kMountInfo), IsEmpty());
  EXPECT_THAT(proc_mounts_below("/", "short - proc \n"), IsEmpty());
}

TEST(ProcMounts, AreKnownByTheirFiles) {
  EXPECT_TRUE(shows_processes(UniqueFd(open("/proc/self", O_PATH | O_CLOEXEC)).get()));
  EXPECT_FALSE(shows_processes(UniqueFd(open("/", O_PATH | O_CLOEXEC)).get()));
}

}  // namespace proc_mounts_test
}  // namespace muster::runtime
