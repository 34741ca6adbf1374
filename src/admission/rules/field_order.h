// The form in which the server writes an object, restored after fields were added to it.
#pragma once

#include "api/schema/registry.h"
#include "json/value.h"

namespace muster::admission {

// Puts members in order, in place, once all steps that add some are done: fields as in the schema,
// keys of maps by their bytes; of a custom resource all keys by their bytes. Members that the
// schema does not know stay last.
void order_fields(json::Value object, const api::Resource& resource);

// What the server writes for a value of this type that has nothing in it: {} or, where some fields
// are always written, those.
json::Value empty_form(json::Arena& arena, const api::Schema& schema);

}  // namespace muster::admission
