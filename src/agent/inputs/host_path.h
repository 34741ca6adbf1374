// Folders and files of the machine that pods may see: hostPath volumes, under a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::agent {

// The canonical form of a path (links resolved, as far as it exists) if it lies below one of the
// allowed prefixes in their canonical form, so that no link below a prefix leads out of it.
Result<std::string> allowed_host_path(const std::vector<std::string>& prefixes,
                                      const std::string& path);

// Checks that what is there is of the type, and makes it if the type says so.
Status prepare_host_path(const std::vector<std::string>& prefixes, const std::string& path,
                         std::string_view type);

}  // namespace muster::agent
