// Limits of runs by control groups: per controller in version 2 or 1, whichever carries it here and
// lets us, or not at all.
#pragma once

#include <array>
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
  std::vector<std::string> folders_;  // each in the one of Cgroups, which goes with its last run
  std::string memory_folder_;
};

class Cgroups {
 public:
  // Looks where a folder of this name can be made and limits can be set. It is there only while it
  // is needed: nobody has to clean up after a keeper that was killed.
  static Cgroups find(const std::string& name);

  std::vector<Ability> abilities() const;
  // A limit whose controller is not there is not kept; the abilities say so.
  Result<RunGroups> make(const std::string& run, const Limits& limits) const;

  enum class Version { kNone, kOne, kTwo };
  struct Controller {
    std::string name;
    Version version = Version::kNone;
    std::string folder;  // ours
    std::string detail;  // how, or why not
  };

 private:
  const Controller& controller(std::string_view name) const;
  std::vector<Controller> controllers_;
};

}  // namespace muster::runtime
