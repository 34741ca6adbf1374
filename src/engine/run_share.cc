#include "engine/run_share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace muster::engine {
namespace {

// Bytes of the file, of which only the place matters.
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

bool RunShare::host() {
  if (!set_lock(file_.get(), F_WRLCK, kHost)) return false;
  // For messages only: if it cannot be written they lack it.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file_.get(), 0) == 0)
    static_cast<void>(::pwrite(file_.get(), pid.data(), pid.size(), 0));
  return true;
}

pid_t RunShare::host_pid() const {
  std::array<char, 16> text{};
  const ssize_t got = ::pread(file_.get(), text.data(), text.size(), 0);
  pid_t pid = 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, pid);
  return pid;
}

bool RunShare::has_host() const {
  struct flock lock = range(F_WRLCK, kHost);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool RunShare::is_alone() const {
  struct flock lock = range(F_WRLCK, kGuests);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

bool RunShare::close() { return set_lock(file_.get(), F_WRLCK, kGuests); }

}  // namespace muster::engine
