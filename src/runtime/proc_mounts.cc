#include "runtime/proc_mounts.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>

#include "runtime/mount_info.h"

namespace muster::runtime {
bool shows_processes(int file) {
  struct statfs info{};
  return fstatfs(file, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

std::vector<std::string> proc_mounts_below(const std::string& folder, std::string_view mount_info) {
  std::string start = std::filesystem::path(folder).lexically_normal();
  if (!start.ends_with('/')) start += '/';
  std::vector<std::string> found;
  for (const MountInfo& mount : parse_mount_info(mount_info)) {
    if (mount.type == "proc" && mount.place.starts_with(start))
      found.push_back(mount.place.substr(start.size()));
  }
  return found;
}

}  // namespace muster::runtime
