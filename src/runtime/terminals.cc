#include "runtime/terminals.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/errno_error.h"
#include "runtime/channel.h"
#include "runtime/mount_calls.h"
#include "runtime/mount_info.h"

namespace muster::runtime {
namespace {

constexpr std::string_view kKind = "devpts";
constexpr const char* kMode = "0620";    // of terminals, as machines have it
constexpr const char* kAnyone = "0666";  // of ptmx, which makes them

UniqueFd make_terminal_file_system() {
  const UniqueFd context(fsopen(kKind.data(), FSOPEN_CLOEXEC));
  const bool made = context.valid() &&
                    fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", kMode, 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_SET_STRING, "ptmxmode", kAnyone, 0) == 0 &&
                    fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  if (!made) return {};
  return UniqueFd(fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
}

// Those that nothing else is mounted over.
std::vector<UniqueFd> places_in_sight(const std::vector<MountInfo>& mounts) {
  std::vector<UniqueFd> places;
  for (const MountInfo& mount : mounts) {
    if (mount.type != kKind) continue;
    UniqueFd place = open_place(mount.place, 0, RESOLVE_NO_SYMLINKS);
    if (place.valid() && mount_of(place) == mount.id) places.push_back(std::move(place));
  }
  return places;
}

// The machine's own set may leave only the second to ordinary users.
UniqueFd open_master() {
  UniqueFd master(open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master.valid()) return master;
  return UniqueFd(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

void wait_for_end(int socket) {
  pollfd peer{.fd = socket, .events = POLLIN, .revents = 0};
  while (poll(&peer, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

Status mount_own_terminals() {
  MUSTER_TRY(const std::string text, own_mount_info());
  const std::vector<UniqueFd> places = places_in_sight(parse_mount_info(text));
  if (places.empty()) return {};
  UniqueFd terminals = make_terminal_file_system();
  for (const UniqueFd& place : places) {
    if (!terminals.valid() || !attach(terminals.get(), place.get()))
      return errno_error("no terminals of its own");
    terminals = clone_tree(terminals.get(), "");  // for the next place
  }
  return {};
}

Result<UniqueFd> take_terminal(int handover) {
  UniqueFd master = open_master();
  int locked = 0;
  if (!master.valid() || ioctl(master.get(), TIOCSPTLCK, &locked) != 0)
    return errno_error("no terminal");
  // Not by its name: that may lead elsewhere.
  UniqueFd own(ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!own.valid()) return errno_error("no terminal");
  Message message{"terminal", {}};
  message.fds.push_back(std::move(master));
  MUSTER_CHECK(send_message(handover, message));
  message.fds.clear();
  wait_for_end(handover);
  return own;
}

}  // namespace muster::runtime
