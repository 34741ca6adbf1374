// The command line and the environment of a container, with its variables filled in. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/process.h"
#include "json/value.h"

namespace muster::agent {

// `inherited` is NAME=value of the agent's own environment that processes of this machine need
// (PATH, HOME …). Values: literal ones with $(NAME) expanded, and fieldRef into metadata. Fails
// naming what it does not know.
Result<ProcessSpec> process_spec(json::Value pod, json::Value container,
                                 const std::vector<std::string>& inherited);

}  // namespace muster::agent
