#include "agent/logs/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace muster::agent {

UniqueFd open_beneath(const std::string& root, const std::string& path, int flags) {
  const UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return UniqueFd();
  open_how how{};
  // A pipe in the place of a file must not make us wait for its writer.
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | O_NONBLOCK);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace muster::agent
