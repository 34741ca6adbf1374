// Opening and making files below a folder in which others may put links, or move things about, at
// any time: no link is followed on the way, and nothing outside is ever reached (S6).
//
// Paths are relative, without empty, "." or ".." parts.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster {

// Whether every part of the path is an ordinary name.
bool is_plain_path(std::string_view path);

// A folder to begin with. Its own path is trusted and may contain links.
Result<UniqueFd> open_folder(const std::string& path);

// A descriptor for the place (O_PATH), whatever kind of file is there. kNotFound if nothing is; a
// link anywhere on the path is an error. An empty path is the root itself.
Result<UniqueFd> open_beneath(int root, std::string_view path);
Result<UniqueFd> open_beneath(const std::string& root, std::string_view path);

// The folder there; what is missing of it is made, with exactly this mode.
Result<UniqueFd> make_folders_beneath(int root, std::string_view path, mode_t mode);

// A path by which the kernel reaches what is open, also if it has been renamed meanwhile.
std::string path_of(const UniqueFd& open);

// Removes a file or a whole folder, however deep, also where it is write-protected. Other file
// systems that are mounted below are left alone. Succeeds if nothing is there.
Status remove_beneath(int root, const std::string& name);

}  // namespace muster
