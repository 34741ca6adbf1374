// Parts that several kinds of Kueue share (spec: queueing 1).
#pragma once

#include <optional>

#include "admission/kind.h"
#include "api/values/quantity.h"

namespace muster::admission {

// The mutating webhook of kinds that others refer to: a finalizer keeps them while they are in use.
Status keep_while_in_use(const Context& context, Value object, Value old);

bool is_taint_effect(std::string_view effect);

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
