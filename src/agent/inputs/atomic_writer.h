// Files that change all at once: readers see the old ones or the new ones, never a mixture
// (pod-lifecycle 5). The layout is what programs that watch such volumes know:
//
//   ..2026_11_15_09_45_40.123456/   the files
//   ..data -> ..2026_11_15_09_45_40.123456
//   app.conf -> ..data/app.conf        one link per file or folder at the top
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace muster::agent {

struct FileContent {
  std::string bytes;
  mode_t mode = 0644;
};
using Payload = std::map<std::string, FileContent, std::less<>>;  // by relative path

// Whom the files belong to; empty where that is left as it is.
struct Ownership {
  std::optional<uid_t> user;
  std::optional<gid_t> group;
};

// What may stand in `path` of an item.
Status check_payload_path(std::string_view path);

// Makes the folder show the payload and nothing else. Writes nothing if it does already.
Status write_payload(const std::string& folder, const Payload& payload, const Ownership& ownership,
                     const Clock& clock);

// Where the files lie now: the target of ..data, relative to the folder.
Result<std::string> current_payload(const std::string& folder);

}  // namespace muster::agent
