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
#include <cstring>
#include <memory>

namespace muster::runtime {
namespace {

// A folder with more entries is not copied: every mount costs all containers that follow.
constexpr std::size_t kMaxCopiedEntries = 1024;

std::unexpected<Error> system_error(const std::string& what) {
  return fail(Code::kInternal, fmt::format("{}: {}", what, std::strerror(errno)));
}

UniqueFd open_without_links(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

bool is_directory(int fd) {
  struct stat info{};
  return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

// A mount of its own that shows what is at `name` in `folder`, with all that is mounted below.
UniqueFd clone_tree(int folder, const char* name) {
  return UniqueFd(open_tree(
      folder, name,
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW));
}

bool attach(int tree, int target) {
  return move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

bool set_read_only(int tree, bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  const unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0U);
  return mount_setattr(tree, "", flags, &attributes, sizeof attributes) == 0;
}

UniqueFd make_memory_file_system(mode_t mode) {
  const UniqueFd context(fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context.valid()) return {};
  const std::string text = fmt::format("{:o}", mode);
  const bool made = fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", text.c_str(), 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_SET_STRING, "size", "16m", 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  if (!made) return {};
  return UniqueFd(fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID));
}

Result<std::vector<std::string>> entries_of(int folder, const std::string& path) {
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return system_error(path);
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
    return system_error("no private root");
  }
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return system_error("no private root");
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

Status check_target(const std::string& target) {
  const bool clean = target.size() > 1 && target.starts_with('/') && !target.ends_with('/') &&
                     (target + "/").find("/../") == std::string::npos &&
                     (target + "/").find("/./") == std::string::npos &&
                     target.find("//") == std::string::npos;
  if (clean) return {};
  return fail(Code::kInvalid, fmt::format("\"{}\" is no place for a mount", target));
}

}  // namespace

std::string View::longest_place(const std::string& target) const {
  std::string longest;
  for (const auto& [path, place] : places_) {
    if (lies_in(target, path) && path.size() >= longest.size()) longest = path;
  }
  return longest;
}

// Inside of what the container can write itself, links are not followed: they could lead anywhere.
Result<UniqueFd> View::make_beneath(const std::string& base, const std::string& target,
                                    bool directory) {
  UniqueFd at(open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string_view rest = std::string_view(target).substr(base == "/" ? 1 : base.size() + 1);
  while (at.valid() && !rest.empty()) {
    const std::string name(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const bool folder = directory || !rest.empty();
    const int made = folder ? mkdirat(at.get(), name.c_str(), 0755)
                            : mknodat(at.get(), name.c_str(), S_IFREG | 0644, 0);
    if (made != 0 && errno != EEXIST) return system_error("cannot make " + target);
    at = UniqueFd(openat(at.get(), name.c_str(),
                         O_PATH | O_CLOEXEC | O_NOFOLLOW | (folder ? O_DIRECTORY : 0)));
  }
  if (!at.valid()) return system_error("cannot make " + target);
  return at;
}

Status View::copy_folder(const std::string& path) {
  const bool is_root = path == "/";
  const UniqueFd original(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  if (!original.valid() || fstat(original.get(), &info) != 0) return system_error(path);
  MUSTER_TRY(const std::vector<std::string> names, entries_of(original.get(), path));
  // Where everybody may write, the private copy can be written too; elsewhere what a program puts
  // there would silently be lost, so it cannot.
  const bool shared = (info.st_mode & S_IWOTH) != 0;
  const UniqueFd copy = make_memory_file_system(shared ? info.st_mode & 07777 : 0755);
  // A root is made below /proc, which is therefore taken first. It must be there: without one in
  // sight an unprivileged user may not mount the one of his own PID namespace.
  const UniqueFd proc = is_root ? clone_tree(original.get(), "proc") : UniqueFd();
  const UniqueFd place(is_root ? open("/proc", O_PATH | O_CLOEXEC) : dup(original.get()));
  if (!copy.valid() || !place.valid() || !attach(copy.get(), place.get())) {
    return system_error("no private copy of " + path);
  }
  for (const std::string& name : names) {
    const bool copied = is_root && name == "proc"
                            ? attach_new(proc.get(), copy.get(), "proc", true)
                            : copy_entry(original.get(), copy.get(), name.c_str());
    if (!copied) return system_error("no private copy of " + path + "/" + name);
  }
  if (is_root) MUSTER_CHECK(become_root(copy.get()));
  struct stat made{};
  fstat(copy.get(), &made);
  places_[path] = {.is_volume = false, .writable = shared, .device = made.st_dev};
  return {};
}

Result<UniqueFd> View::place_for(const std::string& target, bool directory) {
  MUSTER_CHECK(check_target(target));
  const std::string base = longest_place(target);
  if (!base.empty() && places_.at(base).is_volume) return make_beneath(base, target, directory);
  UniqueFd there(open(target.c_str(), O_PATH | O_CLOEXEC));
  if (there.valid() && is_directory(there.get()) == directory) return there;
  if (there.valid()) {
    errno = directory ? ENOTDIR : EISDIR;
    return system_error("cannot mount at " + target);
  }
  if (errno != ENOENT) return system_error("cannot mount at " + target);
  std::string folder = parent_of(target);
  while (folder != "/" && access(folder.c_str(), F_OK) != 0) folder = parent_of(folder);
  if (!is_private(folder)) MUSTER_CHECK(copy_folder(folder));
  return make_beneath(folder, target, directory);
}

// Whether it lies in a copy that we have made already, be it by way of a link.
bool View::is_private(const std::string& folder) const {
  struct stat info{};
  return stat(folder.c_str(), &info) == 0 && std::ranges::any_of(places_, [&](const auto& each) {
           return !each.second.is_volume && each.second.device == info.st_dev;
         });
}

Result<View::Source> View::take(const Mount& mount) {
  const UniqueFd at = open_without_links(mount.source);
  if (!at.valid()) return system_error("cannot mount " + mount.source);
  Source source{mount, clone_tree(at.get(), ""), is_directory(at.get())};
  if (!source.tree.valid() || (mount.read_only && !set_read_only(source.tree.get(), true))) {
    return system_error("cannot mount " + mount.source);
  }
  return source;
}

Status View::mount(const Source& source) {
  const std::string& target = source.mount.target;
  MUSTER_TRY(const UniqueFd place, place_for(target, source.is_directory));
  if (!attach(source.tree.get(), place.get())) {
    return system_error(fmt::format("cannot mount {} at {}", source.mount.source, target));
  }
  places_[target] = {.is_volume = true, .writable = !source.mount.read_only};
  return {};
}

Status View::mount_proc() {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return {};
  return system_error("cannot mount /proc");
}

Status View::make_read_only() {
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.valid() && set_read_only(root.get(), true)) return {};
  return system_error("no read-only root");
}

Status View::seal() {
  for (const auto& [path, place] : places_) {
    if (place.is_volume || place.writable) continue;
    const UniqueFd copy(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!copy.valid() || !set_read_only(copy.get(), false)) {
      return system_error("no private copy of " + path);
    }
  }
  return {};
}

Status make_termination_log_place() {
  if (access("/dev/termination-log", F_OK) == 0) return {};
  const UniqueFd original(open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd copy = make_memory_file_system(0755);
  const UniqueFd tree = clone_tree(original.get(), "");
  if (!original.valid() || !copy.valid() || !tree.valid()) return system_error("no private /dev");
  MUSTER_TRY(const std::vector<std::string> names, entries_of(original.get(), "/dev"));
  std::vector<std::string> mounted;  // shm, pts: they stay what they are
  for (const std::string& name : names) {
    if (is_mount_point(original.get(), name.c_str())) {
      mounted.push_back(name);
    } else {
      symlinkat((".machine/" + name).c_str(), copy.get(), name.c_str());
    }
  }
  const bool made = mkdirat(copy.get(), ".machine", 0755) == 0 &&
                    mknodat(copy.get(), "termination-log", S_IFREG | 0644, 0) == 0;
  if (!made || !attach(copy.get(), original.get())) return system_error("no private /dev");
  const UniqueFd place(openat(copy.get(), ".machine", O_PATH | O_CLOEXEC));
  const bool attached = place.valid() && attach(tree.get(), place.get());
  const bool complete = attached && std::ranges::all_of(mounted, [&](const std::string& name) {
                          return copy_entry(original.get(), copy.get(), name.c_str());
                        });
  if (complete && set_read_only(copy.get(), false)) return {};
  const int why = errno;
  umount2("/dev", MNT_DETACH);
  errno = why;
  return system_error("no private /dev");
}

}  // namespace muster::runtime
