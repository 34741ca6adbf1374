// Who may do what: system:masters everything, others what roles give them
// (rbac.authorization.k8s.io objects in the store and the few rules that every user has). Reads one
// snapshot; no caches to go stale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/core.h"
#include "server/identity.h"
#include "server/policy_rule.h"

namespace muster::server {

struct Verdict {
  bool allowed = false;
  std::string reason;
};
Verdict authorize(const Core& core, const User& user, const Attributes& wanted);

// Whether the sender of a request may also do `verb` to the same object: an update or apply that
// turns out to create it needs that right, too. kForbidden.
Status check_also_allowed(const Core& core, const User& user, const RequestInfo& info,
                          std::string_view verb);

// kForbidden in upstream's words.
Error forbidden(const User& user, const Attributes& wanted, std::string_view reason);

// Every rule that applies to the user, those of the namespace included; for SelfSubjectRulesReview.
std::vector<PolicyRule> rules_for(const Core& core, const User& user, std::string_view ns);

}  // namespace muster::server
