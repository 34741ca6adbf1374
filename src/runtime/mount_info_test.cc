#include "runtime/mount_info.h"

#include <gmock/gmock.h>

namespace muster::runtime {
namespace mount_info_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kText =
    "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
    "23 22 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
    "24 22 254:0 /srv /mnt/a\\040b ro master:1 - ext4 /dev/root rw\n"
    "25 22 254:0 /srv/data/logs /logs rw - ext4 /dev/root rw\n"
    "26 22 254:0 / /chroot rw - ext4 /dev/root rw\n";

TEST(MountInfo, LinesAreRead) {
  const auto mounts = parse_mount_info(kText);
  ASSERT_THAT(mounts, SizeIs(5));
  EXPECT_EQ(mounts[2].id, 24U);
  EXPECT_EQ(mounts[2].device, "254:0");
  EXPECT_EQ(mounts[2].root, "/srv");
  EXPECT_EQ(mounts[2].place, "/mnt/a b");
  EXPECT_EQ(mounts[1].type, "proc");
  EXPECT_THAT(parse_mount_info("short - proc \n22 1\n\nx 1 2 3 4 - ext4 a b\n"), IsEmpty());
}

TEST(MountInfo, AFolderIsSeenThroughEveryMountOfItsFileSystem) {
  const auto mounts = parse_mount_info(kText);
  EXPECT_THAT(sights_of({.mount = 22, .path = "/srv/data"}, mounts),
              ElementsAre(Sight{22, "/srv/data"}, Sight{24, "/mnt/a b/data"},
                          Sight{26, "/chroot/srv/data"}));
  EXPECT_THAT(sights_of({.mount = 24, .path = "/mnt/a b"}, mounts),
              ElementsAre(Sight{22, "/srv"}, Sight{24, "/mnt/a b"}, Sight{26, "/chroot/srv"}));
  EXPECT_THAT(sights_of({.mount = 22, .path = "/srvdata"}, mounts),
              ElementsAre(Sight{22, "/srvdata"}, Sight{26, "/chroot/srvdata"}));
  EXPECT_THAT(sights_of({.mount = 99, .path = "/x"}, mounts), ElementsAre(Sight{99, "/x"}));
}

}  // namespace mount_info_test
}  // namespace muster::runtime
