// Mounts by descriptor: nothing is looked up twice. An invalid descriptor or false is a failure, of
// which errno tells the cause.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace muster::runtime {

// `flags` as for open, `resolve` as for openat2.
UniqueFd open_place(const std::string& path, std::uint64_t flags, std::uint64_t resolve);

// The id of the mount that it was opened through (mount_info.h); 0 if that is unknown.
std::uint64_t mount_of(const UniqueFd& place);

// A mount of its own that shows what is at `name` in `folder`, with all that is mounted below.
UniqueFd clone_tree(int folder, const char* name);

bool attach(int tree, int target);
bool set_read_only(int tree, bool recursive);

// Where everybody may write, a private copy can be written too; elsewhere what a program puts there
// would silently be lost, so it cannot.
bool is_shared(const struct stat& folder);

// An empty one. Whoever may not enter or list the original may not do so with this one either.
UniqueFd make_memory_file_system(const struct stat& original);

}  // namespace muster::runtime
