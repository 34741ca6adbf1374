// Empties a namespace that is being deleted, pods first, and lets it go when nothing is left (spec:
// job 3.5).
#pragma once

#include "controllers/namespaces/content.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::namespaces {

// Time for requests that were admitted before the namespace was marked.
inline constexpr std::chrono::seconds kFirstWait{5};

bool is_ours_to_empty(json::Value object);  // being deleted, and our finalizer holds it

// Pure: reads its arguments and nothing else. `object` is a namespace that is ours to empty.
Plan plan(const api::Resource& namespaces, json::Value object, const Content& content, Time now);

}  // namespace muster::controllers::namespaces
