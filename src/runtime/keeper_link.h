// The agent's way to the keeper of a runtime directory.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/runtime.h"

namespace muster::runtime {

struct KeeperLink {
  UniqueFd socket;
  std::vector<Ability> abilities;
};

// Blocks until a keeper has answered; starts one if there is none.
Result<KeeperLink> reach_keeper(const RuntimeOptions& options);

}  // namespace muster::runtime
