#include "runtime/covers.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <ranges>

#include "base/errno_error.h"
#include "runtime/mount_calls.h"
#include "runtime/mount_info.h"

namespace muster::runtime {
namespace {

bool cover(const UniqueFd& place, const struct stat& original) {
  const UniqueFd empty = make_memory_file_system(original);
  return empty.valid() && set_read_only(empty.get(), false) && attach(empty.get(), place.get());
}

Status cover_folder(const std::string& folder, const std::vector<MountInfo>& mounts,
                    std::vector<std::string>& places) {
  const UniqueFd own = open_place(folder, O_DIRECTORY, 0);
  struct stat info{};
  if (!own.valid() && errno == ENOENT) return {};
  if (!own.valid() || fstat(own.get(), &info) != 0) return errno_error("cannot hide " + folder);
  for (const Sight& sight : sights_of({.mount = mount_of(own), .path = folder}, mounts)) {
    const UniqueFd place = open_place(sight.path, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    // Behind another mount, or in a folder that is closed to us: the container cannot reach it.
    if (!place.valid() || mount_of(place) != sight.mount) continue;
    if (!cover(place, info)) return errno_error("cannot hide " + sight.path);
    places.push_back(sight.path);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> cover_folders(const std::vector<std::string>& folders) {
  std::vector<std::string> places;
  if (folders.empty()) return places;
  MUSTER_TRY(const std::string text, own_mount_info());
  const std::vector<MountInfo> mounts = parse_mount_info(text);
  for (const std::string& folder : folders) MUSTER_CHECK(cover_folder(folder, mounts, places));
  return places;
}

void lift_covers(const std::vector<std::string>& places) {
  for (const std::string& place : std::views::reverse(places))
    umount2(place.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

}  // namespace muster::runtime
