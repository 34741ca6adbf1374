// The file system as one container sees it: the machine's, with mounts of its own, in the mount
// namespace of the calling process. Nothing of it is seen outside, and nothing is made outside.
//
// A mount needs a place. One that does not exist is made in a private copy of its folder (a small
// memory file system in which everything else is bound to what was there), or, if it lies in a
// volume of the container, in that volume.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/runtime.h"

namespace muster::runtime {

class View {
 public:
  // Places are those that this user can reach, and are made in volumes with his rights. Without one
  // the rights are our own.
  explicit View(User user = {}) : user_(std::move(user)) {}

  // What is to be mounted, taken before the view changes: without following links.
  struct Source {
    Mount mount;
    UniqueFd tree;
    bool is_directory = false;
    std::vector<std::string> proc_mounts;  // in the tree: they are covered when it is mounted
  };
  static Result<Source> take(const Mount& mount);
  // On the way to the target links of the machine are followed, but never those inside a volume.
  Status mount(const Source& source);
  Status mount_at(const UniqueFd& place, const Source& source);  // there; the target is its path
  Status mount_proc();                                           // of the own PID namespace
  Status make_read_only();                                       // all that is there by now
  Status seal();  // private copies of folders that others could not write either

 private:
  struct Copy {
    UniqueFd root;
    bool writable = false;
  };
  struct Found {
    UniqueFd at;
    std::string path;
  };
  Result<UniqueFd> place_for(const std::string& target, bool directory);
  Result<UniqueFd> place_in_volume(const std::string& volume, const std::string& target,
                                   bool directory) const;
  Result<Found> find(const std::string& target) const;
  Result<UniqueFd> copy_folder(const UniqueFd& original, const std::string& path);
  std::string volume_around(const std::string& target) const;
  bool is_private(const UniqueFd& folder) const;

  User user_;
  std::vector<Copy> copies_;
  std::map<std::string, std::pair<dev_t, ino_t>> volumes_;  // by path: which folder it is
};

// For the keeper, once: /dev becomes a private folder of links to the machine's devices with an
// empty `termination-log` in it, because that is where most containers have theirs mounted and a
// private copy per run would cost too much. Nothing if the machine has one.
Status make_termination_log_place();

}  // namespace muster::runtime
