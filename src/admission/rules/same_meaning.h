// Whether two forms of an object mean the same. Programs that read an object into Go's types and
// write it back leave out what is empty, add what those types always write ("resources": {}) and
// spell amounts anew ("0.5" becomes "500m"): that is no change.
#pragma once

#include "api/schema/schema.h"
#include "json/value.h"

namespace muster::admission {

// The schema is of a built-in type, which knows where absent and zero are different values. What it
// does not know, or what is not of its type, must be equal as it stands.
bool same_meaning(json::Value a, json::Value b, const api::Schema& schema);

}  // namespace muster::admission
