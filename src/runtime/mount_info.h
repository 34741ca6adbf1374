// What is mounted where, as /proc/self/mountinfo tells it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

struct MountInfo {
  std::uint64_t id = 0;
  std::string device;  // of the file system, as text
  std::string root;    // which folder of the file system it shows
  std::string place;   // where
  std::string type;
};

Result<std::string> own_mount_info();  // the text for the calling process

// Lines that are not of the form are left out. Pure.
std::vector<MountInfo> parse_mount_info(std::string_view text);

struct Sight {
  std::uint64_t mount = 0;  // through this mount
  std::string path;
  bool operator==(const Sight&) const = default;
};
// Every path at which one folder can be seen: its own, and those by way of other mounts of the same
// file system. `seen` is one of them, canonical. Other mounts may hide some of them. Pure.
std::vector<Sight> sights_of(const Sight& seen, const std::vector<MountInfo>& mounts);

}  // namespace muster::runtime
