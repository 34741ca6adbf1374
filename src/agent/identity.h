// Whom containers run as, and what a login would give him.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::agent {

// The policy of a node. Only an agent of root can run anything as somebody else.
struct Identity {
  std::uint32_t uid = 0;   // of the agent itself
  runtime::User pod_user;  // of containers that ask for nobody
  // Containers may ask for other users and groups than his. Nothing is lost by that if he is root.
  bool any_user = false;
  // What the agent has around itself (PATH, HOME …), for containers that run as its own user; the
  // others get what a login would give them.
  std::vector<std::string> environment = {};  // NAME=value
  // A program that containers may call by its name. Its folder is in the PATH of the others, unless
  // they cannot reach it: then they see it in a folder of its own.
  std::string program = {};  // its path; empty: none
  bool program_is_hidden = false;
};

// A user of this machine by name or number, with all of his groups.
Result<runtime::User> find_user(std::string_view name);

// What the securityContext asks for, if the policy allows it. An error is that of waiting.message
// with the reason CreateContainerConfigError.
Result<runtime::User> user_of(json::Value pod, json::Value container, const Identity& identity);

// PATH, HOME, USER … of who runs as this user, NAME=value.
std::vector<std::string> surroundings(const Identity& identity, const runtime::User& user);

// The program, where it is hidden from this user and is still there.
std::optional<runtime::Mount> program_mount(const Identity& identity, const runtime::User& user);

}  // namespace muster::agent
