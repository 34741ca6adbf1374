// Where the servers of one user keep locks that their pods cannot reach.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace muster::agent {

// In the order in which they are tried. Not from the environment: all servers of a user must agree.
// Pure.
std::vector<std::string> lock_folder_candidates(uid_t user);

// A folder that belongs to us and that nobody else can open.
bool is_ours_alone(const std::string& folder);

// The first that is, or can be made, a folder of ours that nobody else can open; empty if there is
// none. Pods of another user are kept out by its mode, those of our own by a cover
// (runtime/covers.h).
std::string find_lock_folder(const std::vector<std::string>& candidates);

}  // namespace muster::agent
