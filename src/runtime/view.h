// The file system as one container sees it: the machine's, with mounts of its own, in the mount
// namespace of the calling process. Nothing of it is seen outside, and nothing is made outside.
//
// A mount needs a place. One that does not exist is made in a private copy of its folder (a small
// memory file system in which everything else is bound to what was there), or, if it lies in a
// volume of the container, in that volume.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/runtime.h"

namespace muster::runtime {

class View {
 public:
  // What is to be mounted, taken before the view changes: without following links.
  struct Source {
    Mount mount;
    UniqueFd tree;
    bool is_directory = false;
  };
  static Result<Source> take(const Mount& mount);
  // On the way to the target links of the machine are followed, but never those inside a volume.
  Status mount(const Source& source);
  Status mount_proc();      // of the own PID namespace
  Status make_read_only();  // all that is there by now
  Status seal();            // private copies of folders that others could not write either

 private:
  struct Place {
    bool is_volume = false;  // else a private copy
    bool writable = true;
    dev_t device = 0;  // of a copy
  };
  Result<UniqueFd> place_for(const std::string& target, bool directory);
  Result<UniqueFd> make_beneath(const std::string& base, const std::string& target, bool directory);
  Status copy_folder(const std::string& path);
  std::string longest_place(const std::string& target) const;
  bool is_private(const std::string& folder) const;

  std::map<std::string, Place> places_;  // by path
};

// For the keeper, once: /dev becomes a private folder of links to the machine's devices with an
// empty `termination-log` in it, because that is where most containers have theirs mounted and a
// private copy per run would cost too much. Nothing if the machine has one.
Status make_termination_log_place();

}  // namespace muster::runtime
