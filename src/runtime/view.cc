#include "runtime/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/contained_path.h"
#include "base/errno_error.h"
#include "runtime/borrowed_rights.h"
#include "runtime/mount_calls.h"
#include "runtime/mount_info.h"
#include "runtime/proc_mounts.h"

namespace muster::runtime {
namespace {

// A folder with more entries is not copied: every mount costs all containers that follow.
constexpr std::size_t kMaxCopiedEntries = 1024;

bool is_directory(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

// The file system itself, wherever it is mounted: a copy of a folder above has it once more.
bool make_read_only_for_all(const UniqueFd& root) {
  const UniqueFd context(fspick(root.get(), "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH));
  return context.valid() && fsconfig(context.get(), FSCONFIG_SET_FLAG, "ro", nullptr, 0) == 0 &&
         fsconfig(context.get(), FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) == 0;
}

UniqueFd make_empty_folder() {
  struct stat info{};
  info.st_mode = S_IFDIR | 0555;
  UniqueFd folder = make_memory_file_system(info);
  return folder.valid() && set_read_only(folder.get(), false) ? std::move(folder) : UniqueFd();
}

// In a copy of /dev: the machine's shared memory is reached through /dev/shm alone, where a pod may
// have its own.
bool hide_shared_memory(const UniqueFd& machine) {
  const UniqueFd place(openat(machine.get(), "shm", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.valid()) return errno == ENOENT;
  const UniqueFd empty = make_empty_folder();
  return empty.valid() && attach(empty.get(), place.get());
}

// Processes of the machine are nothing that a volume shows.
Status hide_processes(const View::Source& source) {
  for (const std::string& path : source.proc_mounts) {
    const auto there = open_beneath(source.tree.get(), path);
    if (!there || !shows_processes(there->get())) continue;  // it is hidden under another mount
    const UniqueFd empty = make_empty_folder();
    if (!empty.valid() || !attach(empty.get(), there->get())) {
      return errno_error(fmt::format("cannot hide {} of {}", path, source.mount.source));
    }
  }
  return {};
}

Result<std::vector<std::string>> entries_of(int folder, const std::string& path) {
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return errno_error(path);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(copy), closedir);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    if (names.size() <= kMaxCopiedEntries) continue;
    return fail(Code::kInternal, path + ": too many entries to make room for a mount");
  }
  return names;
}

bool attach_new(int tree, int folder, const char* name, bool directory) {
  const bool made =
      directory ? mkdirat(folder, name, 0755) == 0 : mknodat(folder, name, S_IFREG | 0644, 0) == 0;
  return made && tree >= 0 && move_mount(tree, "", folder, name, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

// The folder's entry in the copy: a link again, or a place with the original mounted on it.
bool copy_entry(int from, int to, const char* name) {
  struct stat info{};
  if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (S_ISLNK(info.st_mode)) {
    char link[4096];
    const ssize_t length = readlinkat(from, name, link, sizeof link - 1);
    if (length < 0) return false;
    link[length] = '\0';
    return symlinkat(link, to, name) == 0;
  }
  return attach_new(clone_tree(from, name).get(), to, name, S_ISDIR(info.st_mode));
}

bool is_mount_point(int folder, const char* name) {
  struct stat above{}, info{};
  return fstat(folder, &above) == 0 && fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(info.st_mode) && info.st_dev != above.st_dev;
}

// The new root takes the old one's place.
Status become_root(int root) {
  if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) {
    return errno_error("no private root");
  }
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return errno_error("no private root");
  return {};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return path.size() > 1;
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string_view below(std::string_view path, std::string_view folder) {
  return path.substr(folder == "/" ? 1 : folder.size() + 1);
}

Status check_target(const std::string& target) {
  const bool clean = target.size() > 1 && target.starts_with('/') && !target.ends_with('/') &&
                     (target + "/").find("/../") == std::string::npos &&
                     (target + "/").find("/./") == std::string::npos &&
                     target.find("//") == std::string::npos;
  if (clean) return {};
  return fail(Code::kInvalid, fmt::format("\"{}\" is no place for a mount", target));
}

struct Missing {
  const std::string& target;
  std::string_view rest;  // of it, below a folder that is there
  bool directory;
};

// Inside of what others can write to, links are not followed: they could lead anywhere. In a copy
// nothing may be there that was not there a moment ago: it would be the machine's.
Result<UniqueFd> make_beneath(const UniqueFd& folder, Missing missing, bool may_exist) {
  UniqueFd at(dup(folder.get()));
  while (at.valid() && !missing.rest.empty()) {
    const std::string name(missing.rest.substr(0, missing.rest.find('/')));
    missing.rest.remove_prefix(std::min(missing.rest.size(), name.size() + 1));
    const bool folder_wanted = missing.directory || !missing.rest.empty();
    const int made = folder_wanted ? mkdirat(at.get(), name.c_str(), 0755)
                                   : mknodat(at.get(), name.c_str(), S_IFREG | 0644, 0);
    if (made != 0 && !(may_exist && errno == EEXIST)) {
      return errno_error("cannot make " + missing.target);
    }
    at = UniqueFd(openat(at.get(), name.c_str(),
                         O_PATH | O_CLOEXEC | O_NOFOLLOW | (folder_wanted ? O_DIRECTORY : 0)));
  }
  if (!at.valid()) return errno_error("cannot make " + missing.target);
  return at;
}

std::pair<dev_t, ino_t> identity_of(const UniqueFd& file) {
  struct stat info{};
  MUSTER_ASSERT(fstat(file.get(), &info) == 0, "what is open can be looked at");
  return {info.st_dev, info.st_ino};
}

}  // namespace

std::string View::volume_around(const std::string& target) const {
  std::string longest;
  for (const auto& [path, identity] : volumes_) {
    if (lies_in(target, path) && path.size() >= longest.size()) longest = path;
  }
  return longest;
}

Result<UniqueFd> View::copy_folder(const UniqueFd& original, const std::string& path) {
  const bool is_root = path == "/";
  struct stat info{};
  if (fstat(original.get(), &info) != 0) return errno_error(path);
  MUSTER_TRY(const std::vector<std::string> names, entries_of(original.get(), path));
  UniqueFd copy = make_memory_file_system(info);
  // A root is made below /proc, which is therefore taken first. It must be there: without one in
  // sight an unprivileged user may not mount the one of his own PID namespace.
  const UniqueFd proc = is_root ? clone_tree(original.get(), "proc") : UniqueFd();
  const UniqueFd place(is_root ? open("/proc", O_PATH | O_CLOEXEC) : dup(original.get()));
  if (!copy.valid() || !place.valid() || !attach(copy.get(), place.get())) {
    return errno_error("no private copy of " + path);
  }
  for (const std::string& name : names) {
    const bool copied = is_root && name == "proc"
                            ? attach_new(proc.get(), copy.get(), "proc", true)
                            : copy_entry(original.get(), copy.get(), name.c_str());
    if (!copied) return errno_error("no private copy of " + path + "/" + name);
  }
  if (is_root) MUSTER_CHECK(become_root(copy.get()));
  copies_.push_back({.root = UniqueFd(dup(copy.get())), .writable = is_shared(info)});
  return copy;
}

// The nearest folder or file on the way to the target that is there, for the user.
Result<View::Found> View::find(const std::string& target) const {
  const BorrowedRights rights(user_);
  MUSTER_CHECK(rights.status());
  for (std::string path = target;; path = parent_of(path)) {
    UniqueFd at = open_place(path, path == target ? 0 : O_DIRECTORY, 0);
    if (at.valid()) return Found{.at = std::move(at), .path = path};
    if (errno != ENOENT || path == "/") return errno_error("cannot mount at " + target);
  }
}

// A path is looked up once: somebody may exchange the links on it meanwhile.
Result<UniqueFd> View::place_for(const std::string& target, bool directory) {
  MUSTER_CHECK(check_target(target));
  if (const std::string volume = volume_around(target); !volume.empty()) {
    return place_in_volume(volume, target, directory);
  }
  MUSTER_TRY(Found found, find(target));
  if (found.path == target) {
    if (is_directory(found.at.get()) == directory) return std::move(found.at);
    errno = directory ? ENOTDIR : EISDIR;
    return errno_error("cannot mount at " + target);
  }
  if (!is_private(found.at)) {
    MUSTER_TRY(found.at, copy_folder(found.at, found.path));
  }
  return make_beneath(found.at, {target, below(target, found.path), directory}, false);
}

Result<UniqueFd> View::place_in_volume(const std::string& volume, const std::string& target,
                                       bool directory) const {
  const UniqueFd root = open_place(volume, O_DIRECTORY, 0);
  if (!root.valid()) return errno_error("cannot make " + target);
  if (identity_of(root) != volumes_.at(volume)) {
    return fail(Code::kInternal,
                fmt::format("cannot make {}: the way to {} has changed meanwhile", target, volume));
  }
  const BorrowedRights rights(user_);
  MUSTER_CHECK(rights.status());
  return make_beneath(root, {target, below(target, volume), directory}, true);
}

// Whether it lies in a copy that we have made already, be it by way of a link.
bool View::is_private(const UniqueFd& folder) const {
  return std::ranges::any_of(copies_, [&](const Copy& copy) {
    return identity_of(copy.root).first == identity_of(folder).first;
  });
}

Result<View::Source> View::take(const Mount& mount) {
  const UniqueFd at = open_place(mount.source, 0, RESOLVE_NO_SYMLINKS);
  if (!at.valid()) return errno_error("cannot mount " + mount.source);
  Source source{mount, clone_tree(at.get(), ""), is_directory(at.get()), {}};
  if (mount.as_user) {
    if (shows_processes(at.get())) {
      return fail(Code::kForbidden,
                  fmt::format("cannot mount {}: it shows the processes of all pods", mount.source));
    }
    MUSTER_TRY(const std::string mounts, own_mount_info());
    source.proc_mounts = proc_mounts_below(mount.source, mounts);
  }
  if (!source.tree.valid() || (mount.read_only && !set_read_only(source.tree.get(), true))) {
    return errno_error("cannot mount " + mount.source);
  }
  return source;
}

Status View::mount(const Source& source) {
  MUSTER_TRY(const UniqueFd place, place_for(source.mount.target, source.is_directory));
  return mount_at(place, source);
}

Status View::mount_at(const UniqueFd& place, const Source& source) {
  const std::string& target = source.mount.target;
  if (!attach(source.tree.get(), place.get())) {
    return errno_error(fmt::format("cannot mount {} at {}", source.mount.source, target));
  }
  volumes_[target] = identity_of(source.tree);
  return hide_processes(source);
}

Status View::mount_proc() {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return {};
  return errno_error("cannot mount /proc");
}

Status View::make_read_only() {
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.valid() && set_read_only(root.get(), true)) return {};
  return errno_error("no read-only root");
}

Status View::seal() {
  for (const Copy& copy : copies_) {
    if (!copy.writable && !make_read_only_for_all(copy.root)) {
      return errno_error("no read-only copy of a folder");
    }
  }
  return {};
}

Status make_termination_log_place() {
  if (access("/dev/termination-log", F_OK) == 0) return {};
  const UniqueFd original(open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!original.valid() || fstat(original.get(), &info) != 0) return errno_error("no private /dev");
  const UniqueFd copy = make_memory_file_system(info);
  const UniqueFd tree = clone_tree(original.get(), "");
  if (!copy.valid() || !tree.valid()) return errno_error("no private /dev");
  MUSTER_TRY(const std::vector<std::string> names, entries_of(original.get(), "/dev"));
  // shm, pts: they stay what they are. A source of mounts may lie in shm: no link may lead there.
  std::vector<std::string> mounted;
  for (const std::string& name : names) {
    if (name == "shm" || is_mount_point(original.get(), name.c_str())) {
      mounted.push_back(name);
    } else {
      // What makes terminals is beside them: each run has a set of its own (terminals.h).
      const std::string target = name == "ptmx" ? "pts/ptmx" : ".machine/" + name;
      symlinkat(target.c_str(), copy.get(), name.c_str());
    }
  }
  const bool made = mkdirat(copy.get(), ".machine", 0755) == 0 &&
                    mknodat(copy.get(), "termination-log", S_IFREG | 0644, 0) == 0;
  if (!made || !attach(copy.get(), original.get())) return errno_error("no private /dev");
  const UniqueFd place(openat(copy.get(), ".machine", O_PATH | O_CLOEXEC));
  const bool attached =
      place.valid() && attach(tree.get(), place.get()) &&
      hide_shared_memory(UniqueFd(openat(copy.get(), ".machine", O_PATH | O_CLOEXEC)));
  const bool complete = attached && std::ranges::all_of(mounted, [&](const std::string& name) {
                          return copy_entry(original.get(), copy.get(), name.c_str());
                        });
  if (complete && set_read_only(copy.get(), false)) return {};
  const int why = errno;
  umount2("/dev", MNT_DETACH);
  errno = why;
  return errno_error("no private /dev");
}

}  // namespace muster::runtime
