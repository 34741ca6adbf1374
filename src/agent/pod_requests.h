// What a pod asks for, and whether a node can give it (pod-lifecycle 8.2). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/lifecycle/memory.h"
#include "json/value.h"

namespace muster::agent {

// cpu in thousandths, everything else in units; `pods` is always 1.
using Amounts = std::map<std::string, std::int64_t>;

// As the scheduler counts them.
Amounts requests_of(json::Value pod);

void add(Amounts& to, const Amounts& what);

// Why a pod with these requests cannot be taken; nothing if it can. `used` is what all pods hold
// whose processes may still live. Resources that the node does not know are not its business.
std::optional<Verdict> refusal(const Amounts& requests, const Amounts& used,
                               const Amounts& capacity);

}  // namespace muster::agent
