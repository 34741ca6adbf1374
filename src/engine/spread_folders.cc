#include "engine/spread_folders.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "base/unique_fd.h"

namespace muster {

void spread_folders_in(const std::string& folder) {
  const UniqueFd open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  if (ioctl(open.get(), FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_TOPDIR_FL;
  [[maybe_unused]] const int hinted = ioctl(open.get(), FS_IOC_SETFLAGS, &flags);
}

}  // namespace muster
