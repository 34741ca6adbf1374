#include "agent/group_folders.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "agent/inputs/lock_folder.h"
#include "base/errno_error.h"
#include "base/number.h"
#include "base/stable_hash.h"

namespace muster::agent {
namespace {

constexpr mode_t kLikeTmp = 01777;
constexpr std::string_view kMovedAside = ".removed-";
// Names that are tried for one that is moved aside: as many removals can be under way, and more
// than that are never left behind.
constexpr int kMostMovedAside = 1'000;

// Servers of other data directories have folders in the same place.
std::string own_name(std::string_view directory) {
  return fmt::format("muster-{:016x}", stable_hash(directory));
}

// Where everybody may write, somebody else may have made it first.
Status make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return errno_error(path);
  if (is_ours_alone(path)) return {};
  return fail(Code::kForbidden,
              fmt::format("{} is there and does not belong to this server alone: remove it, or "
                          "start muster with --shared-tmp",
                          path));
}

Status make_open_folder(const std::string& path) {
  const bool is_there = ::mkdir(path.c_str(), kLikeTmp) == 0 || errno == EEXIST;
  if (is_there && ::chmod(path.c_str(), kLikeTmp) == 0) return {};
  return errno_error(path);
}

// What a mount at the place covers, by whatever links the place is reached; empty: no folder.
std::string canonical_folder(const std::string& place) {
  std::error_code none;
  const auto found = std::filesystem::canonical(place, none);
  return !none && std::filesystem::is_directory(found, none) ? found.string() : "";
}

std::string name_for(std::string_view place) {
  std::string name(place.substr(place.find_first_not_of('/')));
  std::ranges::replace(name, '/', '-');
  return name;
}

}  // namespace

GroupFolders::GroupFolders(Options options)
    : options_(std::move(options)),
      memory_(options_.memory.empty() ? "" : options_.memory + "/" + own_name(options_.directory)) {
  const auto add = [this](const std::string& place, bool in_memory) {
    const std::string target = canonical_folder(place);
    const bool known = std::ranges::find(places_, target, &Place::target) != places_.end();
    if (target.empty() || known) return;
    places_.push_back({.target = target, .name = name_for(place), .in_memory = in_memory});
  };
  for (const std::string& place : options_.disk_places) add(place, false);
  add(options_.memory, true);
}

// An empty parent in memory is nobody's; one with folders of pods that go on stays.
GroupFolders::~GroupFolders() { ::rmdir(memory_.c_str()); }

Result<std::unique_ptr<GroupFolders>> GroupFolders::open(Options options,
                                                         const std::set<std::uint32_t>& users) {
  MUSTER_CHECK(make_own_folder(options.directory));
  options.memory = canonical_folder(options.memory);  // mounts are made of paths without links
  std::unique_ptr<GroupFolders> folders(new GroupFolders(std::move(options)));
  MUSTER_CHECK(folders->sweep(folders->options_.directory, users));
  if (folders->memory_.empty()) return folders;
  MUSTER_CHECK(make_own_folder(folders->memory_));
  MUSTER_CHECK(folders->sweep(folders->memory_, users));
  return folders;
}

std::string GroupFolders::home(std::uint32_t user, bool in_memory) const {
  return fmt::format("{}/{}", in_memory ? memory_ : options_.directory, user);
}

Status GroupFolders::sweep(const std::string& folder, const std::set<std::uint32_t>& users) {
  std::error_code none;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    found.push_back(entry.path().filename());
  for (const std::string& name : found) {
    const std::string path = fmt::format("{}/{}", folder, name);
    const auto user = parse_number<std::uint32_t>(name);
    if (user && !users.contains(*user)) MUSTER_CHECK(move_aside(path));
    if (!user && name.contains(kMovedAside) && is_ours_alone(path)) disposal_.remove_tree(path);
  }
  return {};
}

Result<std::vector<runtime::Mount>> GroupFolders::mounts_for(std::uint32_t user) const {
  std::vector<runtime::Mount> mounts;
  for (const Place& place : places_) {
    const std::string own = home(user, place.in_memory);
    const std::string folder = fmt::format("{}/{}", own, place.name);
    MUSTER_CHECK(make_own_folder(own));
    MUSTER_CHECK(make_open_folder(folder));
    mounts.push_back({.source = folder, .target = place.target});
  }
  return mounts;
}

Status GroupFolders::remove(std::uint32_t user) {
  MUSTER_CHECK(move_aside(home(user, false)));
  return memory_.empty() ? Status() : move_aside(home(user, true));
}

// A removal may take long; the number may be another one's before it is done.
Status GroupFolders::move_aside(const std::string& home) {
  if (!is_ours_alone(home)) return {};  // never made, or not ours
  for (int i = 0; i < kMostMovedAside; ++i) {
    const std::string aside = fmt::format("{}{}{}", home, kMovedAside, i);
    if (::rename(home.c_str(), aside.c_str()) == 0) {
      disposal_.remove_tree(aside);
      return {};
    }
    if (errno != EEXIST && errno != ENOTEMPTY) break;
  }
  return errno_error(home);
}

bool GroupFolders::hides(const std::string& path) const {
  return std::ranges::any_of(
      places_, [&](const Place& each) { return path.starts_with(each.target + "/"); });
}

}  // namespace muster::agent
