// Folders and files of the machine that pods may see: hostPath volumes, under a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace muster::agent {

// Who asks, and what the node's policy leaves him. A pod sees nothing through a hostPath that its
// user could not open by himself, and makes nothing that he could not make.
struct HostPathRights {
  std::vector<std::string> prefixes;  // what lies below them is allowed
  runtime::User user;
  // Folders of which nothing may be seen, whatever way leads there: the server's own.
  std::vector<std::string> closed = {};
};

// The canonical form of a path (links resolved, as far as it exists) if it lies below one of the
// allowed prefixes in their canonical form, so that no link below a prefix leads out of it, and the
// user can reach it.
Result<std::string> allowed_host_path(const HostPathRights& rights, const std::string& path);

// Checks that what is there is of the type, and makes it, as the user, if the type says so.
Status prepare_host_path(const HostPathRights& rights, const std::string& path,
                         std::string_view type);

}  // namespace muster::agent
