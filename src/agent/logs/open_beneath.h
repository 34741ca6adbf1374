// Opening files of pods without being led astray by links that somebody put in their place.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace muster::agent {

// Closed on exec; empty, with errno, if it cannot be opened. No component of `path` may be a link,
// and none may lead out of the root.
UniqueFd open_beneath(const std::string& root, const std::string& path, int flags);

}  // namespace muster::agent
