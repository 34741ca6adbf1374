#include "store/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/errno_error.h"

namespace muster::store {
namespace {

constexpr const char* kMarker =
    "This directory belongs to muster; muster.db in it is in use. Do not change it by hand.\n";

std::unexpected<Error> system_error(std::string_view doing, const std::string& path) {
  return errno_error(fmt::format("{} {}", doing, path), Code::kUnavailable);
}

Status check_private(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return system_error("cannot read", path);
  if (!S_ISDIR(info.st_mode))
    return fail(Code::kBadRequest, fmt::format("{} is not a directory", path));
  if ((info.st_mode & 077) == 0) return {};
  return fail(
      Code::kForbidden,
      fmt::format(
          "{} is open to other users (mode {:04o}), but secrets are kept there; run: chmod 700 {}",
          path, info.st_mode & 07777, path));
}

// The file holds the process id, if somebody has not removed it.
std::string holder_of(const UniqueFd& lock_file) {
  std::array<char, 32> text{};
  const ssize_t size = pread(lock_file.get(), text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "another process" : fmt::format("process {}", pid);
}

std::unexpected<Error> in_use(const std::string& path, const UniqueFd& lock_file) {
  return fail(Code::kConflict, fmt::format("{} is in use by {}", path, holder_of(lock_file)));
}

Status write_file(int file, std::string_view text, const std::string& path) {
  if (pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      fsync(file) != 0) {
    return system_error("cannot write", path);
  }
  return {};
}

}  // namespace

Result<DataDirectory> DataDirectory::lock(const std::string& path, Folder folder) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("cannot create", path);
  MUSTER_CHECK(check_private(path));
  const std::string lock_path = path + "/lock";
  UniqueFd held(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held.valid()) return system_error("cannot open", path);
  // A file system that locks no folders (NFS) answers otherwise; there the file has to do.
  if (folder == Folder::kLock && flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return in_use(path, UniqueFd(open(lock_path.c_str(), O_RDONLY | O_CLOEXEC)));
  UniqueFd file(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return system_error("cannot open", lock_path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("cannot lock", lock_path);
    return in_use(path, file);
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(file.get(), 0) != 0 || pwrite(file.get(), pid.data(), pid.size(), 0) < 0)
    return system_error("cannot write", lock_path);
  return DataDirectory(path, std::move(held), std::move(file));
}

bool DataDirectory::initialized() const {
  return access((path_ + "/initialized").c_str(), F_OK) == 0;
}

Status DataDirectory::mark_initialized() {
  const std::string marker = path_ + "/initialized";
  const int file = open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return system_error("cannot create", marker);
  const Status written = write_file(file, kMarker, marker);
  close(file);
  MUSTER_CHECK(written);
  return sync_path(path_);
}

Status sync_path(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_error("cannot open", path);
  const int failed = fsync(file);
  const int reason = errno;
  close(file);
  errno = reason;
  if (failed != 0) return system_error("cannot sync", path);
  return {};
}

Status create_private_file(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return system_error("cannot create", path);
  close(file);
  return {};
}

Status rename_durably(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return system_error("cannot rename to", to);
  const std::string parent = std::filesystem::path(to).parent_path();
  return sync_path(parent.empty() ? "." : parent);
}

}  // namespace muster::store
