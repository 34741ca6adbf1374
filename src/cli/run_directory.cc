#include "cli/run_directory.h"

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

namespace muster::cli {
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

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
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
  if (lock_.valid()) remove_folder(path_);
}

int sweep_run_directories(const std::string& parent) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kPrefix) && name.size() == kPattern.size()) found.push_back(entry->path());
  }
  int swept = 0;
  for (const std::string& path : found) {
    if (const UniqueFd lock = lock_folder(path); lock.valid() && !is_served(lock.get())) {
      remove_folder(path);
      ++swept;
    }
  }
  return swept;
}

}  // namespace muster::cli
