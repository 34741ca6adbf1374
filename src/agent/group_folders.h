// /tmp, /var/tmp and /dev/shm of a JobSet's pods, where each JobSet has a user of its own
// (user_book.h): folders that its pods on this machine share and that no other pod sees.
//
//   <directory>/<user>/tmp, …/var-tmp            in the data directory
//   <memory>/muster-<hash>/<user>/dev-shm        in the machine's /dev/shm, because only that is
//   memory
//
// Both parents are closed to everybody but the server, so that no pod that can write in the
// machine's /dev/shm takes the name of a user's folder first. Pods see what is in the folders, as
// mounts. They are made when the first pod needs them and removed when the user is free again.
//
// Used on one thread. Removal is done on a thread of its own (disposal.h).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/disposal.h"
#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::agent {

class GroupFolders {
 public:
  struct Options {
    std::string directory;  // made if it is missing; of this server alone
    std::vector<std::string> disk_places = {"/tmp", "/var/tmp"};
    std::string memory = "/dev/shm";
  };
  // Removes what an earlier server left of users that are not among these.
  static Result<std::unique_ptr<GroupFolders>> open(Options options,
                                                    const std::set<std::uint32_t>& users);
  ~GroupFolders();
  GroupFolders(const GroupFolders&) = delete;

  // Makes what is missing. The targets are those of `hides`.
  Result<std::vector<runtime::Mount>> mounts_for(std::uint32_t user) const;
  // When no pod of the user is left. After a success its folders are gone from their places, so
  // that the next one to have the number finds nothing of them.
  Status remove(std::uint32_t user);
  // Whether pods do not see the machine's file of this path.
  bool hides(const std::string& path) const;

 private:
  struct Place {
    std::string target;  // canonical
    std::string name;    // of the folder that is mounted there
    bool in_memory = false;
  };
  explicit GroupFolders(Options options);
  std::string home(std::uint32_t user, bool in_memory) const;
  Status move_aside(const std::string& home);
  Status sweep(const std::string& folder, const std::set<std::uint32_t>& users);

  const Options options_;
  const std::string memory_;  // the parent of our folders there; empty if there is no such place
  std::vector<Place> places_;
  Disposal disposal_;
};

}  // namespace muster::agent
