// /tmp, /var/tmp and /dev/shm of a JobSet's pods, where each JobSet has a user of its own
// (user_book.h): folders that its pods on this machine share and that no other pod sees.
//
//   <directory>/<user>/tmp, …/var-tmp            in the data directory
//   <memory>/muster-<hash>-<user>/dev-shm        in the machine's /dev/shm, because only that is
//   memory
//
// A folder of a user is closed to everybody but the server. Pods see what is in it, as mounts. It
// is made when the first pod needs it and removed when the user is free again.
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
  Status sweep(const std::string& folder, const std::string& prefix,
               const std::set<std::uint32_t>& users);

  const Options options_;
  const std::string memory_prefix_;  // of the names of our folders there
  std::vector<Place> places_;
  Disposal disposal_;
};

}  // namespace muster::agent
