#include "agent/inputs/atomic_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <set>
#include <vector>

#include "base/contained_path.h"
#include "base/errno_error.h"
#include "base/time.h"

namespace muster::agent {
namespace {

constexpr const char* kData = "..data";
constexpr const char* kNewData = "..data_tmp";
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxPart = 255;
constexpr std::size_t kMaxCompared = std::size_t{16} << 20;  // larger files count as changed

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? "" : path.substr(0, slash));
}

std::string read_link(int folder, const char* name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(folder, name, target.data(), target.size());
  return size <= 0 ? "" : std::string(target.data(), static_cast<std::size_t>(size));
}

// ..2026_11_15_09_45_40.123456
std::string folder_name(Time now) {
  std::string text = "..";
  for (const char c : format_micro_time(now)) {
    if (c == 'Z') break;
    text += c == '-' || c == 'T' || c == ':' ? '_' : c;
  }
  return text;
}

// One version of the files, below the folder that shows them.
class Writer {
 public:
  Writer(UniqueFd folder, const Payload& payload, const Ownership& ownership)
      : folder_(std::move(folder)),
        payload_(payload),
        ownership_(ownership),
        old_(read_link(folder_.get(), kData)) {
    if (!is_plain_path(old_) || old_.find('/') != old_.npos) old_.clear();
  }

  Status run(const Clock& clock) {
    if (!is_current()) {
      MUSTER_TRY(const std::string made, write_all(clock));
      MUSTER_CHECK(publish(made));
    }
    MUSTER_CHECK(add_links());
    MUSTER_CHECK(remove_stale());
    return {};
  }

 private:
  bool is_current() const {
    if (old_.empty()) return false;
    std::size_t files = 0;
    std::error_code error;
    const auto version = open_beneath(folder_.get(), old_);
    if (!version) return false;
    for (std::filesystem::recursive_directory_iterator at(path_of(*version), error), end;
         !error && at != end; at.increment(error)) {
      if (!at->is_directory(error)) ++files;
    }
    if (error || files != payload_.size()) return false;
    return std::ranges::all_of(
        payload_, [&](const auto& file) { return holds(*version, file.first, file.second); });
  }

  bool holds(const UniqueFd& version, const std::string& path, const FileContent& content) const {
    const auto file = open_beneath(version.get(), path);
    struct stat info{};
    if (!file || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        (info.st_mode & 07777) != content.mode || content.bytes.size() > kMaxCompared ||
        static_cast<std::size_t>(info.st_size) != content.bytes.size())
      return false;
    const UniqueFd readable(::open(path_of(*file).c_str(), O_RDONLY | O_CLOEXEC));
    std::string bytes(content.bytes.size() + 1, '\0');
    const ssize_t size = readable.valid() ? ::read(readable.get(), bytes.data(), bytes.size()) : -1;
    return size == std::ssize(content.bytes) && bytes.starts_with(content.bytes);
  }

  Result<std::string> write_all(const Clock& clock) {
    Time now = clock.now();
    std::string name = folder_name(now);
    while (::mkdirat(folder_.get(), name.c_str(), 0755) != 0) {
      if (errno != EEXIST) return errno_error(name);
      now += std::chrono::microseconds(1);
      name = folder_name(now);
    }
    MUSTER_TRY(const UniqueFd version, open_beneath(folder_.get(), name));
    if (::chmod(path_of(version).c_str(), 0755) != 0) return errno_error(name);
    for (const auto& [path, content] : payload_) {
      if (const Status written = write_file(version, path, content); !written) {
        (void)remove_beneath(folder_.get(), name).has_value();
        return std::unexpected(written.error());
      }
    }
    return name;
  }

  Status write_file(const UniqueFd& version, const std::string& path, const FileContent& content) {
    MUSTER_TRY(const UniqueFd parent, make_folders_beneath(version.get(), parent_of(path), 0755));
    const std::string name = path.substr(path.rfind('/') + 1);
    const UniqueFd file(::openat(parent.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) return errno_error(path);
    std::string_view rest = content.bytes;
    while (!rest.empty()) {
      const ssize_t done = ::write(file.get(), rest.data(), rest.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return errno_error(path);
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    // The owner first: that may take bits away again.
    if ((ownership_.user || ownership_.group) &&
        ::fchown(file.get(), ownership_.user.value_or(static_cast<uid_t>(-1)),
                 ownership_.group.value_or(static_cast<gid_t>(-1))) != 0)
      return errno_error(path);
    return ::fchmod(file.get(), content.mode) == 0 ? Status() : errno_error(path);
  }

  Status publish(const std::string& name) {
    ::unlinkat(folder_.get(), kNewData, 0);
    if (::symlinkat(name.c_str(), folder_.get(), kNewData) != 0 ||
        ::renameat(folder_.get(), kNewData, folder_.get(), kData) != 0) {
      const auto error = errno_error(kData);
      (void)remove_beneath(folder_.get(), name).has_value();
      return error;
    }
    old_ = name;
    return {};
  }

  Status add_links() {
    for (const auto& [path, content] : payload_) {
      const std::string name(first_part(path));
      const std::string target = fmt::format("{}/{}", kData, name);
      if (read_link(folder_.get(), name.c_str()) == target) continue;
      MUSTER_CHECK(remove_beneath(folder_.get(), name));
      if (::symlinkat(target.c_str(), folder_.get(), name.c_str()) != 0) return errno_error(name);
    }
    return {};
  }

  // Links to what has vanished, and versions that are not shown: also those of a crash.
  Status remove_stale() {
    std::set<std::string_view> wanted = {kData, old_};
    for (const auto& [path, content] : payload_) wanted.insert(first_part(path));
    std::vector<std::string> stale;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path_of(folder_), error), end; !error && at != end;
         at.increment(error)) {
      std::string name = at->path().filename();
      if (!wanted.contains(name)) stale.push_back(std::move(name));
    }
    if (error) return fail(Code::kInternal, error.message());
    for (const std::string& name : stale) MUSTER_CHECK(remove_beneath(folder_.get(), name));
    return {};
  }

  UniqueFd folder_;
  const Payload& payload_;
  const Ownership& ownership_;
  std::string old_;  // the version that is shown
};

}  // namespace

Status check_payload_path(std::string_view path) {
  const auto wrong = [](std::string text) {
    return fail(Code::kInvalid, "invalid path: " + std::move(text));
  };
  if (path.empty()) return wrong("must not be empty: \"\"");
  if (path.starts_with('/')) return wrong(fmt::format("must be relative path: {}", path));
  if (path.size() > kMaxPath)
    return wrong(fmt::format("must be less than or equal to {} characters", kMaxPath));
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = first_part(rest);
    if (part == "..") return wrong(fmt::format("must not contain '..': {}", path));
    if (part.size() > kMaxPart)
      return wrong(fmt::format("filenames must be less than or equal to {} characters", kMaxPart));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  if (path.starts_with("..")) return wrong(fmt::format("must not start with '..': {}", path));
  if (path.find('\0') != path.npos) return wrong("must not contain a null byte");
  return {};
}

Status write_payload(const std::string& folder, const Payload& payload, const Ownership& ownership,
                     const Clock& clock) {
  Payload clean;  // "a//b" and "./a/b" are a/b
  for (const auto& [path, content] : payload) {
    MUSTER_CHECK(check_payload_path(path));
    std::string plain = std::filesystem::path(path).lexically_normal();
    if (plain.ends_with('/')) plain.pop_back();
    MUSTER_CHECK(check_payload_path(plain));
    clean[std::move(plain)] = content;
  }
  MUSTER_TRY(UniqueFd open, open_folder(folder));
  return Writer(std::move(open), clean, ownership).run(clock);
}

Result<std::string> current_payload(const std::string& folder) {
  MUSTER_TRY(const UniqueFd open, open_folder(folder));
  std::string target = read_link(open.get(), kData);
  if (is_plain_path(target) && target.find('/') == target.npos) return target;
  return fail(Code::kNotFound, "the volume has no data");
}

}  // namespace muster::agent
