#include "runtime/oci_bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>

#include "base/errno_error.h"
#include "runtime/oci_config.h"

namespace muster::runtime {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel has it
// Of all that a container writes outside of its volumes; also limited by its memory.
constexpr const char* kMemoryOptions = "mode=0700,size=50%";
constexpr const char* kUnifiedGroups = "/sys/fs/cgroup/unified";

Status make_folders() {
  for (const char* name : {"upper", "work", kOciRoot, "state", "mounts"}) {
    if (mkdir(name, 0755) != 0 || chmod(name, 0755) != 0) return errno_error(name);
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
  return errno_error(fmt::format("cannot lay a writable layer over {}", name));
}

Status hide_control_groups() {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, "/sys", AT_RECURSIVE, &attributes, sizeof attributes) != 0) {
    return errno_error("/sys cannot be made read-only");
  }
  // crun gives up where both versions are in sight.
  if (access(kUnifiedGroups, F_OK) != 0) return {};
  if (::mount("tmpfs", kUnifiedGroups, "tmpfs", MS_RDONLY, "size=4k") == 0) return {};
  return errno_error(kUnifiedGroups);
}

// Folders that the OCI runtime mounts itself: links that a root has in them count no more.
bool is_hidden(const fs::path& path) {
  const std::string first = path.begin()->string();
  return first == "proc" || first == "dev" || first == "sys";
}

// Where a path leads in a root that others cannot change. What is missing there stays as it is.
Result<std::string> resolved(const UniqueFd& root, const fs::path& target) {
  fs::path done;
  std::list<fs::path> rest(target.begin(), target.end());
  for (int links = 0; !rest.empty();) {
    const fs::path part = std::move(rest.front());
    rest.pop_front();
    if (part == "..") done = done.parent_path();
    if (part == ".." || part == "." || part == "/" || part.empty()) continue;
    done /= part;
    char link[4096];
    const ssize_t length =
        is_hidden(done) ? -1 : readlinkat(root.get(), done.c_str(), link, sizeof link);
    if (length < 0) continue;
    if (++links > kMaxLinks) return fail(Code::kInvalid, target.string() + ": too many links");
    const fs::path leads(std::string_view(link, static_cast<std::size_t>(length)));
    done = leads.is_absolute() ? fs::path() : done.parent_path();
    rest.insert(rest.begin(), leads.begin(), leads.end());
  }
  return "/" + done.string();
}

// What lies inside of another mount comes after it.
Status resolve_targets(const UniqueFd& root, std::vector<View::Source>& sources) {
  for (View::Source& source : sources) {
    MUSTER_TRY(source.mount.target, resolved(root, source.mount.target));
  }
  std::ranges::stable_sort(sources, {},
                           [](const View::Source& each) { return each.mount.target.size(); });
  return {};
}

Status stage_at(const std::string& place, View::Source& source, View& view) {
  const bool made = source.is_directory ? mkdir(place.c_str(), 0755) == 0
                                        : mknod(place.c_str(), S_IFREG | 0644, 0) == 0;
  const UniqueFd there(open(place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!made || !there.valid()) return errno_error(place);
  source.mount.target = place;
  return view.mount_at(there, source);
}

Status as_seen_inside(Status done, const Mount& around) {
  if (done) return done;
  std::string& text = done.error().message;
  const std::size_t at = text.find(around.source);
  if (at != text.npos) text.replace(at, around.source.size(), around.target);
  return done;
}

// Where the OCI runtime finds them: nobody can put a link there meanwhile. What lies in a volume is
// mounted there at once: the OCI runtime, which is root, would make places in it that the
// container's user could not make.
Result<std::vector<Mount>> stage(const std::string& folder, const User& user,
                                 std::vector<View::Source> sources) {
  View view(user);
  std::vector<Mount> staged;
  for (View::Source& source : sources) {
    const std::string target = source.mount.target;
    const auto around = std::ranges::find_if(
        staged, [&](const Mount& each) { return target.starts_with(each.target + "/"); });
    if (around != staged.end()) {
      source.mount.target = around->source + target.substr(around->target.size());
      MUSTER_CHECK(as_seen_inside(view.mount(source), *around));
      continue;
    }
    const std::string place = fmt::format("{}/mounts/{}", folder, staged.size());
    staged.push_back(source.mount);
    staged.back().source = place;
    MUSTER_CHECK(stage_at(place, source, view));
  }
  return staged;
}

}  // namespace

Status set_up_bundle(const std::string& folder, const RunSpec& run,
                     std::vector<View::Source> sources) {
  MUSTER_CHECK(View().mount_proc());
  const UniqueFd given(open(run.rootfs.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!given.valid()) return errno_error("root file system " + run.rootfs);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, kMemoryOptions) != 0 ||
      chdir(folder.c_str()) != 0) {
    return errno_error("no memory file system for the container");
  }
  MUSTER_CHECK(make_folders());
  if (geteuid() != 0) {
    for (const View::Source& source : sources) carry_folders(given, source.mount.target);
    for (const char* shared : {"/tmp", "/var/tmp"}) carry_folders(given, shared);
  }
  MUSTER_CHECK(mount_root(given, run.rootfs));
  MUSTER_CHECK(resolve_targets(given, sources));
  MUSTER_TRY(const std::vector<Mount> mounts,
             stage(folder, run.user.value_or(User{}), std::move(sources)));
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
