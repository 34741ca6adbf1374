#include "cli/run_share.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace muster::cli {
namespace {

// Bytes of the file; there need not be any.
constexpr off_t kGuests = 0, kHost = 1;

struct flock range(short type, off_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

// Locks of the open file, not of the process: they behave the same in threads and tests.
bool set_lock(int file, short type, off_t byte, bool wait = false) {
  struct flock lock = range(type, byte);
  int done = 0;
  do {
    done = ::fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

}  // namespace

Result<RunShare> RunShare::join(const std::string& data_dir) {
  const std::string path = data_dir + "/runs.lock";
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid() || !set_lock(file.get(), F_RDLCK, kGuests, true))
    return fail(Code::kUnavailable, fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  return RunShare(std::move(file));
}

bool RunShare::host() { return set_lock(file_.get(), F_WRLCK, kHost); }

bool RunShare::has_host() const {
  struct flock lock = range(F_WRLCK, kHost);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool RunShare::is_alone() const {
  struct flock lock = range(F_WRLCK, kGuests);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

bool RunShare::close() { return set_lock(file_.get(), F_WRLCK, kGuests); }

}  // namespace muster::cli
