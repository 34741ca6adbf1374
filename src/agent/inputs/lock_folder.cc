#include "agent/inputs/lock_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster::agent {

// Anybody may have made it first where everybody may write.
bool is_ours_alone(const std::string& folder) {
  struct stat info{};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & 077) == 0 &&
         ::access(folder.c_str(), W_OK | X_OK) == 0;
}

std::vector<std::string> lock_folder_candidates(uid_t user) {
  return {user == 0 ? "/run/muster" : fmt::format("/run/user/{}/muster", user),
          fmt::format("/tmp/muster-{}", user)};
}

std::string find_lock_folder(const std::vector<std::string>& candidates) {
  for (const std::string& folder : candidates) {
    ::mkdir(folder.c_str(), 0700);
    if (is_ours_alone(folder)) return folder;
  }
  return "";
}

}  // namespace muster::agent
