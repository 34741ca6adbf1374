// Files that are made when they are first needed, with their folders.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/unique_fd.h"

namespace muster::runtime {

// To write to; no link is followed in its place. Invalid if it cannot be had: errno says why.
UniqueFd make_file(const std::string& path, int flags, mode_t mode);

}  // namespace muster::runtime
