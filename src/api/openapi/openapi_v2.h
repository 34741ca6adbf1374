// OpenAPI v2, the older form of what openapi.h describes. kubectl asks for it where v3 does not
// help: for a `kind: List`, for kinds that cannot be patched, and for kinds that it does not find.
#pragma once

#include <string>

#include "json/value.h"

namespace muster::api {

// A v3 document in the words of v2, in the same arena. What v2 (or kubectl's reader of it) cannot
// say is left out: defaults, alternatives, what lies below a field that may be null or that keeps
// unknown fields.
json::Value to_openapi_v2(json::Value v3);

// A v2 document as a message of gnostic's openapi.v2.Document, which is the only form that kubectl
// takes.
std::string openapi_v2_protobuf(json::Value v2);

}  // namespace muster::api
