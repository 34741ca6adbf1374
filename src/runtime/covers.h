// Folders of the machine that containers may not see: in their mount namespace an empty folder is
// mounted over each.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

// For the init of a run, before volumes of the machine are taken: a copy of a folder above has the
// cover, too. Paths are canonical. A folder that other mounts show elsewhere is covered there as
// well; one that does not exist needs no cover. Returns the places, for lift_covers.
//
// Nobody in the container can lift them: that takes rights over its mount namespace, and in a
// namespace that a program makes for itself the kernel locks what it inherits.
Result<std::vector<std::string>> cover_folders(const std::vector<std::string>& folders);

// For an init that needs the folders again and shows its own view to nobody.
void lift_covers(const std::vector<std::string>& places);

}  // namespace muster::runtime
