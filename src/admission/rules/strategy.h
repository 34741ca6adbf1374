// Status and generation: what a write to the main resource or to a subresource leaves alone
// (spec: apimachinery 3.4, 3.5).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// On create: no status but the form that the server writes for an empty one.
void clear_status(const Context& context, Value object);
// A write to the main resource of a kind with a status subresource does not touch the status.
void keep_status(const Context& context, Value object, Value old);
// A write to /status touches nothing else: the spec of built-in kinds, all of a custom resource.
void keep_all_but_status(const Context& context, Value object, Value old);

void start_generation(const Context& context, Value object);
void raise_generation(const Context& context, const Kind& kind, Value object, Value old);

}  // namespace muster::admission
