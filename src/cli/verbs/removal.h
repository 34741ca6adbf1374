// Deleting objects and waiting until they, and what runs for them, are gone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/connection.h"

namespace muster::cli {

struct Doomed {
  const api::Resource* resource = nullptr;
  std::string ns;    // empty for cluster-scoped kinds
  std::string name;  // never empty: that would be all of them
};

struct Removal {
  // background, foreground or orphan. Empty: foreground where pods are made for the object and they
  // are waited for, so that it is gone when its processes are; background otherwise.
  std::string cascade;
  std::int64_t grace_seconds = -1;  // negative: what the object says
  bool wait = true;
  std::string timeout;  // of all the waiting, as people write it; empty or 0: for ever
  bool ignore_missing = false;
};

// Of --grace-period; -1 as with kubectl.
inline constexpr Range kGraceRange = {-1, 365 * 24 * 3600};

// The policy by its name on the wire.
std::string_view propagation_policy(const Removal& removal, const api::Resource& resource);

// Says of each object that it was `word`; the exit code. One that is not there does not keep the
// others.
int remove_all(Connection& connection, const std::vector<Doomed>& doomed, const Removal& removal,
               std::string_view word);

}  // namespace muster::cli
