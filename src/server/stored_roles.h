// The rules that a user has by the roles and bindings in the store (rbac.authorization.k8s.io).
// Internal to server/.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "server/core.h"
#include "server/identity.h"
#include "server/policy_rule.h"

namespace muster::server {

inline constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

// `reason` names the binding, as upstream does. Returns false to stop.
using VisitRule = std::function<bool(const PolicyRule& rule, const std::string& reason)>;

// Rules by cluster-wide bindings, then those by bindings of the namespace, unless `ns` is empty.
// Reads the newest snapshot.
void visit_stored_rules(const Core& core, const User& user, std::string_view ns,
                        const VisitRule& visit);

}  // namespace muster::server
