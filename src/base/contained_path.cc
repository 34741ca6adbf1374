#include "base/contained_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "base/errno_error.h"

namespace muster {
namespace {

constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Code code_of(int number) {
  if (number == ENOENT) return Code::kNotFound;
  const bool too_many_files = number == EMFILE || number == ENFILE;  // now
  return too_many_files ? Code::kUnavailable : Code::kInternal;
}

std::unexpected<Error> os_error(std::string_view path) { return errno_error(path, code_of(errno)); }

// Cuts off the first part.
std::string take_part(std::string_view& path) {
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string part(path.substr(0, slash));
  path.remove_prefix(std::min(slash + 1, path.size()));
  return part;
}

Status check_plain(std::string_view path) {
  if (path.empty() || is_plain_path(path)) return {};
  return fail(Code::kInvalid, fmt::format("\"{}\" is no plain relative path", path));
}

// An open folder's own entry. "." is not looked up by name: the descriptor is what counts.
UniqueFd duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

}  // namespace

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.ends_with('/') || path.find('\0') != path.npos) return false;
  while (!path.empty()) {
    const std::string part = take_part(path);
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

Result<UniqueFd> open_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return os_error(path);
  return fd;
}

// Part by part: with O_NOFOLLOW and without ".." there is no way out, on any kernel and under any
// filter of system calls, which openat2 cannot say.
Result<UniqueFd> open_beneath(int root, std::string_view path) {
  MUSTER_CHECK(check_plain(path));
  UniqueFd at = duplicate(root);
  const std::string_view whole = path;
  if (!at.valid()) return os_error(whole);
  while (!path.empty()) {
    const std::string part = take_part(path);
    const int flags = path.empty() ? O_PATH | O_NOFOLLOW | O_CLOEXEC : kFolder;
    UniqueFd next(::openat(at.get(), part.c_str(), flags));
    if (!next.valid()) return os_error(whole);
    at = std::move(next);
  }
  struct stat info{};
  if (::fstat(at.get(), &info) != 0) return os_error(whole);
  if (S_ISLNK(info.st_mode)) {
    errno = ELOOP;
    return os_error(whole);
  }
  return at;
}

Result<UniqueFd> open_beneath(const std::string& root, std::string_view path) {
  MUSTER_TRY(const UniqueFd folder, open_folder(root));
  return open_beneath(folder.get(), path);
}

Result<UniqueFd> make_folders_beneath(int root, std::string_view path, mode_t mode) {
  MUSTER_CHECK(check_plain(path));
  UniqueFd at = duplicate(root);
  const std::string_view whole = path;
  if (!at.valid()) return os_error(whole);
  while (!path.empty()) {
    const std::string part = take_part(path);
    const bool is_new = ::mkdirat(at.get(), part.c_str(), mode) == 0;
    if (!is_new && errno != EEXIST) return os_error(whole);
    UniqueFd next(::openat(at.get(), part.c_str(), kFolder));
    if (!next.valid()) return os_error(whole);
    // The umask took bits away. What is open is what was made, or a folder put in its place below
    // the same root: never something outside.
    if (is_new && ::chmod(path_of(next).c_str(), mode) != 0) return os_error(whole);
    at = std::move(next);
  }
  return at;
}

std::string path_of(const UniqueFd& open) { return fmt::format("/proc/self/fd/{}", open.get()); }

namespace {

struct Closer {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// Empties folders without a stack: a folder inside another one is first moved up beside it, so that
// neither depth nor the length of paths matters.
class Remover {
 public:
  explicit Remover(int root) : root_(root) {}

  Status remove(const std::string& name) {
    if (::unlinkat(root_, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return os_error(name);
    pending_.push_back(name);
    while (!pending_.empty()) {
      const std::string next = std::move(pending_.back());
      pending_.pop_back();
      MUSTER_CHECK(empty_and_remove(next));
    }
    return {};
  }

 private:
  Status empty_and_remove(const std::string& name) {
    UniqueFd folder(::openat(root_, name.c_str(), kFolder));
    struct stat info{};
    if (!folder.valid() || ::fstat(folder.get(), &info) != 0) return os_error(name);
    if (!device_) device_ = info.st_dev;
    if (*device_ != info.st_dev)
      return fail(Code::kConflict, fmt::format("{}: another file system is mounted there", name));
    if ((info.st_mode & S_IRWXU) != S_IRWXU) ::chmod(path_of(folder).c_str(), S_IRWXU);
    MUSTER_CHECK(empty(folder));
    if (::unlinkat(root_, name.c_str(), AT_REMOVEDIR) == 0) return {};
    return os_error(name);
  }

  Status empty(const UniqueFd& folder) {
    UniqueFd readable(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!readable.valid()) return os_error("opening a folder");
    const std::unique_ptr<DIR, Closer> stream(::fdopendir(readable.get()));
    if (!stream) return os_error("reading a folder");
    readable.release();
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (::unlinkat(folder.get(), entry->d_name, 0) == 0 || errno == ENOENT) continue;
      if (errno != EISDIR && errno != EPERM) return os_error(name);
      MUSTER_CHECK(move_up(folder, entry->d_name));
    }
    return {};
  }

  Status move_up(const UniqueFd& folder, const char* name) {
    // Moving a folder changes its "..", for which it must be writable.
    const UniqueFd child(::openat(folder.get(), name, kFolder));
    if (!child.valid()) return os_error(name);
    ::chmod(path_of(child).c_str(), S_IRWXU);
    const std::string target = fmt::format(".removed-{}-{}", ::getpid(), count_++);
    if (::renameat(folder.get(), name, root_, target.c_str()) != 0) return os_error(name);
    pending_.push_back(target);
    return {};
  }

  int root_;
  std::optional<dev_t> device_;
  std::size_t count_ = 0;
  std::vector<std::string> pending_;
};

}  // namespace

Status remove_beneath(int root, const std::string& name) {
  if (!is_plain_path(name) || name.find('/') != name.npos)
    return fail(Code::kInvalid, fmt::format("\"{}\" is no name of a file", name));
  return Remover(root).remove(name);
}

}  // namespace muster
