// Where a pod may run: selectors, affinity, tolerations, spreading, gates.
#pragma once

#include "admission/rules/checks.h"

namespace muster::admission {

void validate_affinity(Value affinity, const Path& path, FieldErrors& errors);
void validate_tolerations(Value tolerations, const Path& path, FieldErrors& errors);
void validate_spread_constraints(Value constraints, const Path& path, FieldErrors& errors);
void validate_scheduling_gates(Value gates, const Path& path, FieldErrors& errors);

// Of nodes: unique by key and effect.
void validate_taints(Value taints, const Path& path, FieldErrors& errors);

}  // namespace muster::admission
