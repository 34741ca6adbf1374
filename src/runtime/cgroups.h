// Limits of pods and runs by control groups: per controller in version 2 or 1, whichever carries it
// here and lets us, or not at all.
//
//   <ours>/<pod uid>        the pod's processes together
//   <ours>/<pod uid>/<run>  a run that has limits
//   <ours>/<pod uid>/shim   in version 2, where a group with groups in it has no processes
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::runtime {

// The groups of one run; empty if it has no limits.
class RunGroups {
 public:
  // For the process that is to be limited, before it gives up its rights.
  Status join() const;
  bool killed_for_memory() const;
  void remove();  // when its processes are gone

 private:
  friend class Cgroups;
  std::vector<std::string> folders_;
  std::string memory_folder_;
};

class Cgroups {
 public:
  // Looks where a folder of this name can be made and limits can be set. It is there only while it
  // is needed: nobody has to clean up after a keeper that was killed. `mounts`: as in
  // /proc/self/mountinfo.
  static Cgroups find(const std::string& name);
  static Cgroups find(const std::string& name, const std::string& mounts);

  // A limit whose controller is not there is not kept.
  std::vector<Ability> abilities() const;

  // This process, and all that it makes from now on, counts as the pod's: `processes` at most,
  // threads too. 0: any number.
  Status enter_pod(const std::string& uid, std::int64_t processes) const;
  // Likewise none of them can open character devices with these major numbers, except through what
  // is open already. What cannot be forbidden here is not. REQUIRES: after enter_pod.
  void deny_devices(const std::string& uid, const std::vector<int>& majors) const;
  Result<RunGroups> make(const std::string& uid, const std::string& run,
                         const Limits& limits) const;
  // When all of its processes are gone; also what a killed shim has left.
  void remove_pod(const std::string& uid) const;

  enum class Version { kNone, kOne, kTwo };
  struct Controller {
    std::string name;
    Version version = Version::kNone;
    std::string folder;  // ours
    std::string detail;  // how, or why not
  };

 private:
  const Controller& controller(std::string_view name) const;
  static Status make_pod(const Controller& controller, const std::string& uid);
  std::vector<Controller> controllers_;
};

}  // namespace muster::runtime
