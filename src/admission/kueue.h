// Parts that several kinds of Kueue share (spec: queueing 1).
#pragma once

#include <optional>

#include "admission/kind.h"
#include "api/quantity.h"

namespace muster::admission {

inline constexpr std::string_view kInUseFinalizer = "kueue.x-k8s.io/resource-in-use";

bool is_v1beta1(const Context& context);

// A quantity of a custom resource: text, or a number.
std::optional<api::Quantity> quantity_of(Value value);

// The CEL rules of a list of tolerations.
void check_toleration_rules(Value tolerations, const Path& path, FieldErrors& errors);
// The webhooks' rule: keys are label names.
void check_toleration_keys(Value tolerations, const Path& path, FieldErrors& errors);

// The CEL rules of a Workload, and what its webhook says.
void validate_workload_rules(const Context& context, Value workload, FieldErrors& errors);
void validate_workload_transitions(const Context& context, Value workload, Value old,
                                   FieldErrors& errors);
void admit_workload(const Context& context, Value workload, FieldErrors& errors);
void admit_workload_update(const Context& context, Value workload, Value old, FieldErrors& errors);

}  // namespace muster::admission
