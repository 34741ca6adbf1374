#include "runtime/oci_bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/oci_config.h"

namespace muster::runtime {
namespace {

// Of all that a container writes outside of its volumes; also limited by its memory.
constexpr const char* kMemoryOptions = "mode=0700,size=50%";
constexpr const char* kUnifiedGroups = "/sys/fs/cgroup/unified";

std::unexpected<Error> system_error(const std::string& what) {
  return fail(Code::kInternal, fmt::format("{}: {}", what, std::strerror(errno)));
}

Status make_folders() {
  for (const char* name : {"upper", "work", kOciRoot, "state", "mounts"}) {
    if (mkdir(name, 0755) != 0 || chmod(name, 0755) != 0) return system_error(name);
  }
  return {};
}

// The folders on the way to a place, in the layer of the container. The kernel does that by itself
// where they belong to somebody whom the container knows; to an ordinary user's only he is known.
void carry_folders(const UniqueFd& given, const std::filesystem::path& place) {
  std::filesystem::path at;
  for (const std::filesystem::path& part : place.relative_path()) {
    at /= part;
    struct stat info{};
    const bool folder =
        fstatat(given.get(), at.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
    if (!folder) return;
    const std::filesystem::path copy = "upper" / at;
    mkdir(copy.c_str(), 0700);
    chmod(copy.c_str(), info.st_mode & 07777);
  }
}

// Paths are relative and by descriptor: names of images may contain what separates options.
Status mount_root(const UniqueFd& given, const std::string& name) {
  const std::string layers =
      fmt::format("lowerdir=/proc/self/fd/{},upperdir=upper,workdir=work", given.get());
  // An ordinary user may keep marks (of deleted files) in attributes of this kind only.
  const std::string as_user = layers + ",userxattr";
  const bool root = geteuid() == 0;
  if (!root && ::mount("overlay", kOciRoot, "overlay", 0, as_user.c_str()) == 0) return {};
  if (::mount("overlay", kOciRoot, "overlay", 0, layers.c_str()) == 0) return {};
  return system_error(fmt::format("cannot lay a writable layer over {}", name));
}

Status hide_control_groups() {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, "/sys", AT_RECURSIVE, &attributes, sizeof attributes) != 0) {
    return system_error("/sys cannot be made read-only");
  }
  // crun gives up where both versions are in sight.
  if (access(kUnifiedGroups, F_OK) != 0) return {};
  if (::mount("tmpfs", kUnifiedGroups, "tmpfs", MS_RDONLY, "size=4k") == 0) return {};
  return system_error(kUnifiedGroups);
}

// Where the OCI runtime finds them: nobody can put a link there meanwhile.
Result<std::vector<Mount>> stage(const std::string& folder, std::vector<View::Source> sources) {
  View view;
  std::vector<Mount> staged;
  for (View::Source& source : sources) {
    const std::string place = fmt::format("{}/mounts/{}", folder, staged.size());
    const bool made = source.is_directory ? mkdir(place.c_str(), 0755) == 0
                                          : mknod(place.c_str(), S_IFREG | 0644, 0) == 0;
    if (!made) return system_error(place);
    staged.push_back(source.mount);
    staged.back().source = place;
    source.mount.target = place;
    MUSTER_CHECK(view.mount(source));
  }
  return staged;
}

}  // namespace

Status set_up_bundle(const std::string& folder, const RunSpec& run,
                     std::vector<View::Source> sources) {
  MUSTER_CHECK(View().mount_proc());
  const UniqueFd given(open(run.rootfs.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!given.valid()) return system_error("root file system " + run.rootfs);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, kMemoryOptions) != 0 ||
      chdir(folder.c_str()) != 0) {
    return system_error("no memory file system for the container");
  }
  MUSTER_CHECK(make_folders());
  if (geteuid() != 0) {
    for (const View::Source& source : sources) carry_folders(given, source.mount.target);
    for (const char* shared : {"/tmp", "/var/tmp"}) carry_folders(given, shared);
  }
  MUSTER_CHECK(mount_root(given, run.rootfs));
  MUSTER_TRY(const std::vector<Mount> mounts, stage(folder, std::move(sources)));
  MUSTER_CHECK(hide_control_groups());
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  std::ofstream config("config.json");
  config << oci_config(run, mounts,
                       {.uid = geteuid(),
                        .gid = getegid(),
                        .open_files = files.rlim_cur,
                        .most_open_files = files.rlim_max});
  if (config.close(); !config) return fail(Code::kInternal, "cannot write the container's config");
  return {};
}

}  // namespace muster::runtime
