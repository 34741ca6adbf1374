#include "agent/user_book.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/views/job_set_names.h"
#include "base/errno_error.h"
#include "base/log.h"
#include "base/number.h"
#include "base/replace_file.h"
#include "base/unique_fd.h"

namespace muster::agent {
namespace {

using json::Value;

std::string read_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return std::move(text).str();
}

// A group's name holds text of clients (the uid of an owner), which must not make a line of its
// own.
std::string escaped(std::string_view group) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";
  std::string text;
  for (const char c : group) {
    if (kPlain.contains(c)) {
      text += c;
    } else {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

using Users = std::map<std::string, std::uint32_t>;  // by escaped group

// One line per group: its user, a blank, its escaped name. No user is root's, and none is there
// twice: the file decides whom processes run as, so what is not as we write it is not believed.
Result<Users> read_book(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return Users();
  if (!std::filesystem::is_regular_file(file, unknown))
    return fail(Code::kInternal, fmt::format("{} is not a file", file));
  Users users;
  std::set<std::uint32_t> taken;
  std::istringstream lines(read_text(file));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t blank = line.find(' ');
    const auto user = parse_number<std::uint32_t>(std::string_view(line).substr(0, blank));
    const std::string group = blank == line.npos ? "" : line.substr(blank + 1);
    const bool sound = user && *user != 0 && !group.empty() && !group.contains(' ') &&
                       !lines.eof() && taken.insert(*user).second &&
                       users.emplace(group, *user).second;
    if (!sound)
      return fail(
          Code::kInternal,
          fmt::format("{} is damaged in line {}: it says which user the pods of each JobSet "
                      "run as; end all pods of this server, then remove it",
                      file, number));
  }
  return users;
}

// One that cannot be read may have any.
bool book_may_have(const std::string& file, std::uint32_t user) {
  const auto users = read_book(file);
  return !users ||
         std::ranges::any_of(*users, [&](const auto& each) { return each.second == user; });
}

}  // namespace

bool is_known_user_or_group(std::uint32_t number) {
  return ::getpwuid(number) != nullptr || ::getgrgid(number) != nullptr;
}

std::string trust_group_of(Value pod) {
  const Value metadata = pod.get("metadata");
  std::string_view owner = metadata.get({"labels", api::label::kJobSetUid}).as_string();
  if (owner.empty()) {
    for (const Value each : metadata.get("ownerReferences").items())
      if (each.get("controller").as_bool()) owner = each.get("uid").as_string();
  }
  if (owner.empty()) owner = metadata.get("uid").as_string();
  return escaped(fmt::format("{}/{}", metadata.get("namespace").as_string(), owner));
}

Result<std::unique_ptr<UserBook>> UserBook::open(Options options) {
  if (::mkdir(options.claims_folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error(options.claims_folder);
  std::unique_ptr<UserBook> book(new UserBook(std::move(options)));
  MUSTER_CHECK(book->load());
  if (book->options_.folders) {
    MUSTER_TRY(book->folders_, GroupFolders::open(*book->options_.folders, book->users()));
  }
  return book;
}

// Claims do not outlive the machine's last start, the book does. A user that another server has
// taken meanwhile is lost to us; no process of ours can have it, for the machine started in
// between.
Status UserBook::load() {
  MUSTER_TRY(const Users known, read_book(options_.file));
  for (const auto& [group, user] : known) {
    MUSTER_TRY(const bool ours, claim(user));
    if (ours)
      groups_[group].user = user;
    else
      log::warn("another server has the user of a JobSet", {{"group", group}});
  }
  return {};
}

Status UserBook::save() const {
  std::string text;
  for (const auto& [group, entry] : groups_) text += fmt::format("{} {}\n", entry.user, group);
  return replace_file(options_.file, text);
}

std::string UserBook::claim_file(std::uint32_t user) const {
  return fmt::format("{}/{}", options_.claims_folder, user);
}

// A claim counts as long as the book that made it has the user.
Result<bool> UserBook::claim(std::uint32_t user) const {
  const std::string lock_file = options_.claims_folder + "/lock";
  const UniqueFd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) return errno_error(lock_file);
  const std::string owner = read_text(claim_file(user));
  if (!owner.empty() && owner != options_.file && book_may_have(owner, user)) return false;
  if (owner != options_.file) MUSTER_CHECK(replace_file(claim_file(user), options_.file));
  return true;
}

bool UserBook::has(std::uint32_t user) const {
  return std::ranges::any_of(groups_, [&](const auto& each) { return each.second.user == user; });
}

std::set<std::uint32_t> UserBook::users() const {
  std::set<std::uint32_t> users;
  for (const auto& [group, entry] : groups_) users.insert(entry.user);
  return users;
}

// From a place that depends on the group: a number comes late to another one.
Result<std::uint32_t> UserBook::take(const std::string& group) {
  const std::uint64_t size = std::uint64_t{options_.range.last} - options_.range.first + 1;
  const std::uint64_t start = std::hash<std::string>{}(group) % size;
  for (std::uint64_t i = 0; i < size; ++i) {
    const auto user = static_cast<std::uint32_t>(options_.range.first + (start + i) % size);
    if (has(user) || options_.is_taken(user)) continue;
    MUSTER_TRY(const bool ours, claim(user));
    if (ours) return user;
  }
  return fail(Code::kUnavailable, fmt::format("all users from {} to {} are taken (--pod-users)",
                                              options_.range.first, options_.range.last));
}

Result<runtime::User> UserBook::user_for(const std::string& group, const std::string& pod_uid) {
  auto found = groups_.find(group);
  if (found == groups_.end()) {
    MUSTER_TRY(const std::uint32_t user, take(group));
    found = groups_.emplace(group, Entry{.user = user, .pods = {}}).first;
    if (const Status saved = save(); !saved) {
      groups_.erase(found);
      return std::unexpected(saved.error());
    }
  }
  keep(group, pod_uid);
  const std::uint32_t user = found->second.user;
  return runtime::User{.uid = user, .gid = user, .groups = {}};
}

Result<std::vector<runtime::Mount>> UserBook::folders_of(const std::string& group) const {
  const auto found = groups_.find(group);
  if (!folders_ || found == groups_.end()) return std::vector<runtime::Mount>();
  return folders_->mounts_for(found->second.user);
}

bool UserBook::hides(const std::string& path) const { return folders_ && folders_->hides(path); }

void UserBook::keep(const std::string& group, const std::string& pod_uid) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  found->second.pods.insert(pod_uid);
  group_of_pod_[pod_uid] = group;
}

void UserBook::drop(const std::string& pod_uid) {
  const auto pod = group_of_pod_.extract(pod_uid);
  if (pod.empty()) return;
  std::set<std::string>& pods = groups_.at(pod.mapped()).pods;
  pods.erase(pod_uid);
  if (pods.empty()) release(pod.mapped());
}

void UserBook::release_unused() {
  std::vector<std::string> unused;
  for (const auto& [group, entry] : groups_) {
    if (entry.pods.empty()) unused.push_back(group);
  }
  for (const std::string& group : unused) release(group);
}

// The folders go first and the claim last: nobody takes a user whose folders are there, or that the
// book still has.
void UserBook::release(const std::string& group) {
  const auto stays = [&](const Error& why) {
    log::warn("a user stays taken", {{"group", group}, {"error", why.message}});
  };
  const Status emptied = folders_ ? folders_->remove(groups_.at(group).user) : Status();
  if (!emptied) return stays(emptied.error());
  const auto entry = groups_.extract(group);
  if (const Status saved = save(); !saved) return stays(saved.error());
  ::unlink(claim_file(entry.mapped().user).c_str());
}

}  // namespace muster::agent
