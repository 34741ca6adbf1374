#include "engine/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/contained_path.h"
#include "base/log.h"

namespace muster::engine {
namespace {

constexpr std::string_view kPrefix = "muster-run-";
constexpr std::string_view kPattern = "muster-run-XXXXXX";
constexpr int kAttempts = 100;

// The folder itself, locked; invalid if somebody else has it, or if there is no such folder of this
// user at the path (any more): who sweeps has the lock while it removes.
UniqueFd lock_folder(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat opened{}, there{};
  const bool is_ours =
      folder.valid() && ::fstat(folder.get(), &opened) == 0 && opened.st_uid == ::geteuid() &&
      ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && ::lstat(path.c_str(), &there) == 0 &&
      there.st_ino == opened.st_ino && there.st_dev == opened.st_dev;
  return is_ours ? std::move(folder) : UniqueFd();
}

// A server that was started in a folder that was left has only its own lock (data_directory.h).
bool is_served(int folder) {
  const UniqueFd lock(::openat(folder, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
}

std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename());
  return names;
}

// Also what its owner has write-protected. Piece by piece, so that nothing of it is ever elsewhere.
Status remove_folder(int folder, const std::string& path) {
  ::fchmod(folder, S_IRWXU);
  Status done;
  for (const std::string& name : entries_of(path)) {
    if (const Status removed = remove_beneath(folder, name); !removed) done = removed;
  }
  if (::rmdir(path.c_str()) == 0 || !done) return done;
  return fail(Code::kInternal, std::strerror(errno));
}

}  // namespace

Result<RunDirectory> RunDirectory::make(const std::string& parent) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = fmt::format("{}/{}", parent, kPattern);
    if (::mkdtemp(path.data()) == nullptr) {
      return fail(Code::kUnavailable, fmt::format("cannot make a private directory in {}: {}",
                                                  parent, std::strerror(errno)));
    }
    // Between the two another run may have swept it.
    if (UniqueFd lock = lock_folder(path); lock.valid())
      return RunDirectory(std::move(path), std::move(lock));
  }
  return fail(Code::kUnavailable, fmt::format("cannot keep a private directory in {}", parent));
}

RunDirectory::~RunDirectory() {
  if (!lock_.valid()) return;
  if (const Status removed = remove_folder(lock_.get(), path_); !removed)
    log::error("a part of the run's folder is left",
               {{"folder", path_}, {"reason", removed.error().message}});
}

int sweep_run_directories(const std::string& parent) {
  int swept = 0;
  for (const std::string& name : entries_of(parent)) {
    if (!name.starts_with(kPrefix) || name.size() != kPattern.size()) continue;
    const std::string path = fmt::format("{}/{}", parent, name);
    const UniqueFd lock = lock_folder(path);
    if (lock.valid() && !is_served(lock.get()) && remove_folder(lock.get(), path)) ++swept;
  }
  return swept;
}

}  // namespace muster::engine
