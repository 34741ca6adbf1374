// How a kubectl that applies on the server lives with objects that it applied on the client before:
// by the annotation with the document that was applied last (spec: apimachinery 1.9).
#pragma once

#include "fields/ownership.h"

namespace muster::fields {

inline constexpr std::string_view kKubectl = "kubectl";

// The paths that kubectl applied on the client and that still have its values: it may take them by
// force. Empty if the object has no such annotation, or one of another version.
FieldSet applied_on_client(json::Arena& arena, const Endpoint& endpoint, json::Value live);

// Rewrites the annotation, if the object has one, to hold the document. Drops it if the annotations
// grow beyond their limit. Tells whether the object changed.
bool renew_last_applied(json::Arena& arena, json::Value object, json::Value document);

}  // namespace muster::fields
