#include "runtime/mount_calls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::runtime {
namespace {

bool set_option(const UniqueFd& context, const char* name, const std::string& value) {
  return fsconfig(context.get(), FSCONFIG_SET_STRING, name, value.c_str(), 0) == 0;
}

}  // namespace

UniqueFd open_place(const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | resolve;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

std::uint64_t mount_of(const UniqueFd& place) {
  struct statx info{};
  return statx(place.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &info) == 0 ? info.stx_mnt_id : 0;
}

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

bool is_shared(const struct stat& folder) { return (folder.st_mode & S_IWOTH) != 0; }

UniqueFd make_memory_file_system(const struct stat& original) {
  const UniqueFd context(fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context.valid()) return {};
  // An owner whom our user namespace does not know is left out; it is ourselves then.
  set_option(context, "uid", std::to_string(original.st_uid));
  set_option(context, "gid", std::to_string(original.st_gid));
  const bool made = set_option(context, "mode", fmt::format("{:o}", original.st_mode & 07777)) &&
                    (is_shared(original) || set_option(context, "size", "16m")) &&
                    fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  if (!made) return {};
  return UniqueFd(fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID));
}

}  // namespace muster::runtime
