// File systems that show processes (proc). In one of the machine's, a pod sees the environment and,
// through /proc/PID/root, the files of all others that run as the same user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::runtime {

bool shows_processes(int file);

// Where such file systems are mounted below a folder, relative to it; from the text of
// /proc/self/mountinfo. What is mounted above or over them is not looked at.
std::vector<std::string> proc_mounts_below(const std::string& folder, std::string_view mount_info);

}  // namespace muster::runtime
