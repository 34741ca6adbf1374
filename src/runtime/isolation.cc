#include "runtime/isolation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "runtime/view.h"

namespace muster::runtime {
namespace {

constexpr int kNotWanted = -1;  // among error numbers

bool write_file(const char* path, const std::string& text) {
  const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Everybody stays who he is; what changes is what he may do inside.
bool enter_user_namespace() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  return unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)) &&
         write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
}

// Mounts of the machine are still seen when they come; ours are not seen by the machine.
bool enter_mount_namespace() {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

// 0, or the errno with which it failed, in a child with these namespaces.
int try_in_child(std::uint64_t flags, const std::function<bool()>& attempt) {
  UniqueFd handle;
  const pid_t child = clone_process(flags, handle);
  if (child < 0) return errno;
  if (child == 0) _exit(attempt() ? 0 : (errno > 0 && errno < 255 ? errno : 255));
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return ECHILD;
  return WEXITSTATUS(status);
}

bool try_mount(const Mount& mount) {
  View view;
  const auto source = View::take(mount);
  return source && view.mount(*source) && view.mount_proc();
}

bool try_view() { return try_mount({"/etc/hosts", "/etc/hosts", true}); }
bool try_private_root() { return try_mount({"/etc", "/.muster-probe/etc", true}); }

std::string why_not(int error) {
  if (error == kNotWanted) return "switched off by configuration";
  std::string text = std::strerror(error);
  if (error == EPERM || error == ENOSPC || error == EACCES || error == EUSERS) {
    text += geteuid() == 0 ? "; the container or sandbox that we run in forbids it"
                           : "; user namespaces are switched off for this user (sysctl "
                             "user.max_user_namespaces, kernel.unprivileged_userns_clone, "
                             "kernel.apparmor_restrict_unprivileged_userns)";
  }
  return text;
}

Ability ability(std::string_view name, int error, std::string how) {
  return {std::string(name), error == 0, error == 0 ? std::move(how) : why_not(error)};
}

}  // namespace

Isolation enter_isolation(bool wanted) {
  Isolation isolation;
  const bool root = geteuid() == 0;
  int entered = wanted ? 0 : kNotWanted;
  if (wanted && !root && !enter_user_namespace()) entered = errno;
  if (entered == 0 && !enter_mount_namespace()) entered = errno;
  const auto attempt = [&](std::uint64_t flags, const std::function<bool()>& what) {
    return entered != 0 ? entered : try_in_child(flags, what);
  };
  const int runs = attempt(CLONE_NEWPID | CLONE_NEWNS, try_view);
  const int root_copy = attempt(CLONE_NEWPID | CLONE_NEWNS, try_private_root);
  const int uts = attempt(CLONE_NEWUTS, [] { return true; });
  const int ipc = attempt(CLONE_NEWIPC, [] { return true; });
  isolation.namespaces = {.runs = runs == 0, .uts = uts == 0, .ipc = ipc == 0};
  if (runs == 0) (void)make_termination_log_place();  // else a private copy of /dev does it
  const std::string how = root ? "as root" : "in a user namespace";
  isolation.abilities = {
      ability("pid namespaces", runs, how),     ability(kMountNamespaces, runs, how),
      ability("private /etc/hosts", runs, how), ability(kPrivateRoot, root_copy, how),
      ability("host names", uts, how),          ability("ipc namespaces", ipc, how)};
  return isolation;
}

}  // namespace muster::runtime
