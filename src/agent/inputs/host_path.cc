#include "agent/inputs/host_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/contained_path.h"
#include "base/errno_error.h"
#include "runtime/borrowed_rights.h"
#include "runtime/proc_mounts.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

// Where something lies: a prefix that is trusted, and a plain path below it.
struct Place {
  std::string prefix;
  std::string below;  // empty: the prefix itself
  std::string path() const {
    if (below.empty()) return prefix;
    return prefix == "/" ? prefix + below : prefix + "/" + below;
  }
};

std::optional<std::string> below(const std::string& prefix, const std::string& path) {
  if (path == prefix) return "";
  const std::string start = prefix == "/" ? prefix : prefix + "/";
  if (!path.starts_with(start)) return std::nullopt;
  return path.substr(start.size());
}

Result<std::string> canonical(const std::string& path) {
  std::error_code error;
  std::string found = fs::weakly_canonical(path, error);
  if (error) return fail(Code::kInternal, error.message());
  if (found.size() > 1 && found.ends_with('/')) found.pop_back();
  return found;
}

std::unexpected<Error> unreachable(const HostPathRights& rights, const std::string& path,
                                   const Error& why) {
  return fail(why.code, fmt::format("hostPath {} cannot be had by user {}: {}", path,
                                    rights.user.uid, why.message));
}

Result<std::string> canonical_for(const HostPathRights& rights, const std::string& path) {
  const runtime::BorrowedRights borrowed(rights.user);
  MUSTER_CHECK(borrowed.status());
  auto found = canonical(path);
  if (!found) return unreachable(rights, path, found.error());
  return found;
}

bool is_same(const std::string& path, const struct stat& folder) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_dev == folder.st_dev &&
         info.st_ino == folder.st_ino;
}

// By what the folders are, not by their names: another mount may show one elsewhere. Asked with our
// own rights, for the answer is our own business.
bool lies_in(const std::string& real, const std::string& closed) {
  struct stat folder{};
  if (::stat(closed.c_str(), &folder) != 0) return false;
  for (fs::path at = real;; at = at.parent_path()) {
    if (is_same(at, folder)) return true;
    if (at == at.parent_path()) return false;
  }
}

Status check_closed(const HostPathRights& rights, const std::string& path,
                    const std::string& real) {
  for (const std::string& closed : rights.closed) {
    if (lies_in(real, closed))
      return fail(Code::kForbidden,
                  fmt::format("hostPath {} is not allowed: it belongs to the server", path));
  }
  return {};
}

Result<Place> find_place(const HostPathRights& rights, const std::string& path) {
  if (!path.starts_with('/'))
    return fail(Code::kInvalid, fmt::format("invalid HostPath `{}`: must be absolute", path));
  const fs::path parts(path);
  if (std::ranges::find(parts, "..") != parts.end())
    return fail(Code::kInvalid, fmt::format("invalid HostPath `{}`: must not contain '..'", path));
  MUSTER_TRY(const std::string real, canonical_for(rights, path));
  MUSTER_CHECK(check_closed(rights, path, real));
  for (const std::string& prefix : rights.prefixes) {
    const auto real_prefix = canonical(prefix);
    if (!real_prefix) continue;
    if (auto rest = below(*real_prefix, real))
      return Place{.prefix = *real_prefix, .below = *std::move(rest)};
  }
  return fail(Code::kForbidden,
              fmt::format("hostPath {} is not allowed on this node (allowed by --host-path: {})",
                          path, fmt::join(rights.prefixes, ", ")));
}

struct PathType {
  std::string_view name;
  mode_t kind;
  std::string_view complaint;
};
constexpr std::array<PathType, 7> kTypes{{
    {"Directory", S_IFDIR, "directory"},
    {"DirectoryOrCreate", S_IFDIR, "directory"},
    {"File", S_IFREG, "file"},
    {"FileOrCreate", S_IFREG, "file"},
    {"Socket", S_IFSOCK, "socket file"},
    {"CharDevice", S_IFCHR, "character device"},
    {"BlockDevice", S_IFBLK, "block device"},
}};

Status make_folder(const Place& place) {
  MUSTER_TRY(const UniqueFd root, open_folder(place.prefix));
  MUSTER_TRY(const UniqueFd made, make_folders_beneath(root.get(), place.below, 0755));
  return {};
}

Status make_file(const Place& place) {
  const std::size_t slash = place.below.rfind('/');
  const bool is_nested = slash != std::string::npos;
  MUSTER_TRY(const UniqueFd folder,
             open_beneath(place.prefix, is_nested ? place.below.substr(0, slash) : ""));
  const std::string name = is_nested ? place.below.substr(slash + 1) : place.below;
  const UniqueFd file(::openat(folder.get(), name.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.valid() && ::fchmod(file.get(), 0644) == 0) return {};
  return errno_error(place.path());
}

}  // namespace

Result<std::string> allowed_host_path(const HostPathRights& rights, const std::string& path) {
  MUSTER_TRY(const Place place, find_place(rights, path));
  return place.path();
}

// Without a type nothing is checked; what is missing becomes a folder, as container runtimes have
// it.
Status prepare_host_path(const HostPathRights& rights, const std::string& path,
                         std::string_view type) {
  MUSTER_TRY(const Place place, find_place(rights, path));
  const auto* const wanted = std::ranges::find(kTypes, type, &PathType::name);
  if (!type.empty() && wanted == kTypes.end())
    return fail(Code::kInvalid, fmt::format("{} is an invalid volume type", type));
  const runtime::BorrowedRights borrowed(rights.user);
  MUSTER_CHECK(borrowed.status());
  const auto found = open_beneath(place.prefix, place.below);
  if (!found && found.error().code != Code::kNotFound)
    return unreachable(rights, path, found.error());
  if (found && runtime::shows_processes(found->get()))
    return fail(
        Code::kForbidden,
        fmt::format("hostPath {} is not allowed: it shows the processes of all pods", path));
  if (!found && (type.empty() || type.ends_with("OrCreate"))) {
    const Status made = type == "FileOrCreate" ? make_file(place) : make_folder(place);
    return made ? made : unreachable(rights, path, made.error());
  }
  struct stat info{};
  if (type.empty() ||
      (found && ::fstat(found->get(), &info) == 0 && (info.st_mode & S_IFMT) == wanted->kind))
    return {};
  return fail(Code::kInvalid,
              fmt::format("hostPath type check failed: {} is not a {}", path, wanted->complaint));
}

}  // namespace muster::agent
