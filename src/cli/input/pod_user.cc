#include "cli/input/pod_user.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/terminal_text.h"
#include "cli/input/job_set_containers.h"
#include "runtime/borrowed_rights.h"

namespace muster::cli {
namespace {

constexpr std::string_view kRootHelp = "--pod-user root runs them as you";

std::string name_of(std::uint32_t uid) {
  std::array<char, 4096> room{};
  passwd entry{}, *found = nullptr;
  const bool known =
      ::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? entry.pw_name : std::to_string(uid);
}

// Programs are started with a change into the path: all that leads to it counts.
bool can_enter(const runtime::User& user, const std::string& folder) {
  const runtime::BorrowedRights borrowed(user);
  return ::faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0;
}

bool is_part_of_a_path(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./-+@%,:~").contains(c) || (c & 0x80) != 0;
}

// The first path in a text, which may be a whole script: then words that look like programs are
// none.
std::string path_in(std::string_view text, const std::function<bool(const std::string&)>& exists) {
  const bool is_script = text.find_first_of(" \t\n") != text.npos;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_part_of_a_path(text[end])) ++end;
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    const bool is_named = word.find_first_not_of("./") != std::string::npos &&
                          (!is_script || word.find_first_of("./") != std::string::npos);
    if (is_named && !word.starts_with('/') && exists(word)) return word;
  }
  return "";
}

std::string needed_by(json::Value container,
                      const std::function<bool(const std::string&)>& exists) {
  if (container.get("workingDir").as_string().starts_with('/')) return "";
  bool is_program = true;  // without a slash it is looked for elsewhere
  for (const std::string_view list : {"command", "args"}) {
    for (const json::Value word : container.get(list).items()) {
      const std::string_view text = word.as_string();
      if (!std::exchange(is_program, false) || text.contains('/')) {
        if (std::string found = path_in(text, exists); !found.empty()) return found;
      }
    }
  }
  return "";
}

}  // namespace

Result<std::optional<OtherUser>> other_user(const engine::PodPolicy& policy) {
  engine::PodPolicy own = policy;
  if (own.user.empty()) own.user = engine::sudo_caller();
  MUSTER_TRY(const agent::Identity identity, engine::identity_under(own));
  if (identity.pod_user.uid == identity.uid) return std::nullopt;
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown);
  return OtherUser{.name = policy.users
                               ? fmt::format("users {}-{}", policy.users->first, policy.users->last)
                               : name_of(identity.pod_user.uid),
                   .asked = !policy.user.empty() || policy.users,
                   .enters = !unknown && can_enter(identity.pod_user, folder),
                   .folder = unknown ? "." : folder};
}

std::string needed_here(json::Value job_set,
                        const std::function<bool(const std::string&)>& exists) {
  std::string needed;
  for_each_container(job_set, [&](json::Value container, const std::string&) {
    if (needed.empty()) needed = needed_by(container, exists);
  });
  return needed;
}

std::string remark_on_server(const engine::PodPolicy& policy, const agent::Identity& identity) {
  if (policy.users)
    return fmt::format("pods of each JobSet run as a user of their own, one of {}-{}",
                       policy.users->first, policy.users->last);
  const bool is_asked = !policy.user.empty() || policy.one_user || identity.uid != 0;
  if (identity.pod_user.uid == identity.uid && is_asked) return "";
  return fmt::format("all pods run as {}{}", name_of(identity.pod_user.uid),
                     is_asked ? ""
                              : ", for this user namespace lacks a range of users for JobSets; "
                                "--pod-users FIRST-LAST names one");
}

std::string remark_on(const OtherUser& user) {
  if (!user.enters)
    return fmt::format("pods run as {}, who cannot enter {} and works in his home or / instead: {}",
                       plain_text(user.name), plain_text(user.folder), kRootHelp);
  if (user.asked) return "";
  return fmt::format("pods run as {}, not as root: {}", plain_text(user.name), kRootHelp);
}

std::string refusal_for(const OtherUser& user, const std::string& file) {
  return fmt::format(
      "error: pods run as {}, who cannot enter {}, where {} is\n"
      "  help: {}; or run it in a folder that {} can enter\n",
      plain_text(user.name), plain_text(user.folder), plain_text(file), kRootHelp,
      plain_text(user.name));
}

}  // namespace muster::cli
