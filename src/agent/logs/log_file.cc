#include "agent/logs/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

#include "base/contained_path.h"
#include "base/errno_error.h"

namespace muster::agent {
namespace {

constexpr std::size_t kSliceBytes = 64 * 1024;
// Lines are cut at 16 KiB when they are written. What is longer than this is not of our making, and
// is left out.
constexpr std::size_t kMaxLineBytes = 1024 * 1024;

// A pipe in the place of a file must not make us wait for its writer.
Result<UniqueFd> open_for_reading(const std::string& root, const std::string& path) {
  MUSTER_TRY(const UniqueFd place, open_beneath(root, path));
  UniqueFd file(::open(path_of(place).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    const bool too_many_files = errno == EMFILE || errno == ENFILE;  // now
    return errno_error(fmt::format("{}/{}", root, path),
                       too_many_files ? Code::kUnavailable : Code::kInternal);
  }
  return file;
}

std::size_t read_at(int fd, off_t offset, char* to, std::size_t count) {
  for (;;) {
    const ssize_t got = fd < 0 ? 0 : ::pread(fd, to, count, offset);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return 0;  // like the end: there is nobody else to tell
  }
}

off_t size_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_size : 0;
}

bool same_file(int a, int b) {
  struct stat first{}, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

}  // namespace

std::string pod_log_folder(std::string_view ns, std::string_view pod, std::string_view uid) {
  const std::size_t others = std::min<std::size_t>(ns.size() + uid.size() + 2, NAME_MAX);
  return fmt::format("{}_{}_{}", ns, pod.substr(0, NAME_MAX - others), uid);
}

std::string LogKey::folder() const { return pod_log_folder(ns, pod, uid); }
std::string LogKey::file() const { return fmt::format("{}/{}.{}.log", folder(), container, run); }

LogFile::LogFile(std::string root, std::string path, UniqueFd fd)
    : root_(std::move(root)), path_(std::move(path)), fd_(std::move(fd)) {}

Result<LogFile> LogFile::open(std::string root, const LogKey& key) {
  std::string path = key.file();
  Result<UniqueFd> fd = open_for_reading(root, path);
  if (!fd && fd.error().code != Code::kNotFound) return std::unexpected(fd.error());
  return LogFile(std::move(root), std::move(path), fd ? *std::move(fd) : UniqueFd());
}

// Backwards in blocks, so that a large file costs no more than its tail.
void LogFile::skip_to_last_lines(std::int64_t count) {
  const off_t size = size_of(fd_.get());
  if (count <= 0) {
    offset_ = size;
    return;
  }
  std::vector<char> block(kSliceBytes);
  // The end of the last line begins none, so one more line end is looked for.
  std::int64_t missing = std::min<std::int64_t>(count, size) + 1;
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(block.size()));
    const std::size_t got =
        read_at(fd_.get(), begin, block.data(), static_cast<std::size_t>(end - begin));
    if (end == size && got > 0 && block[got - 1] != '\n') --missing;  // it has no end yet
    for (std::size_t i = got; i-- > 0;) {
      if (block[i] != '\n' || --missing > 0) continue;
      offset_ = begin + static_cast<off_t>(i) + 1;
      return;
    }
    end = begin;
  }
}

void LogFile::skip_to_end() { offset_ = size_of(fd_.get()); }
void LogFile::stop_at_present_end() { end_ = size_of(fd_.get()); }

std::string_view LogFile::read_lines() {
  buffer_.erase(0, std::exchange(given_out_, 0));
  for (;;) {
    const std::size_t have = buffer_.size();
    std::size_t wanted = kSliceBytes;
    if (end_)
      wanted = std::min(wanted, static_cast<std::size_t>(std::max<off_t>(0, *end_ - offset_)));
    buffer_.resize(have + wanted);
    const std::size_t got = read_at(fd_.get(), offset_, buffer_.data() + have, wanted);
    buffer_.resize(have + got);
    offset_ += static_cast<off_t>(got);
    if (const std::size_t last = buffer_.rfind('\n'); last != std::string::npos) {
      given_out_ = last + 1;
      return std::string_view(buffer_).substr(0, given_out_);
    }
    if (got == 0) {
      buffer_.shrink_to_fit();  // a follower waits with what it needs
      return {};
    }
    if (buffer_.size() > kMaxLineBytes) buffer_.clear();
  }
}

std::string_view LogFile::unfinished_line() const {
  return std::string_view(buffer_).substr(given_out_);
}

bool LogFile::switch_to_new_file() {
  Result<UniqueFd> fd = open_for_reading(root_, path_);
  if (!fd || (fd_.valid() && same_file(fd->get(), fd_.get()))) return false;
  fd_ = *std::move(fd);
  offset_ = 0;
  buffer_.clear();
  given_out_ = 0;
  return true;
}

}  // namespace muster::agent
