// A process that is meant for ever, also when its number has been given to another one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "json/value.h"

namespace muster::runtime {

struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, as /proc tells it
  std::string boot_id;

  bool operator==(const ProcessIdentity&) const = default;
};

std::optional<ProcessIdentity> identity_of(pid_t pid);  // nothing if there is no such process
pid_t parent_of(pid_t pid);                             // 0 if there is none
// A handle of that very process if it still runs (a zombie does not), else an invalid one.
UniqueFd open_process(const ProcessIdentity& process);
Status kill_process(const UniqueFd& process, int signal);

// Kills the children of this process, but not these. True if there were others, zombies too.
bool kill_children_but(const std::set<pid_t>& kept);

json::Value to_json(json::Arena& arena, const ProcessIdentity& process);
ProcessIdentity identity_from(json::Value value);

}  // namespace muster::runtime
