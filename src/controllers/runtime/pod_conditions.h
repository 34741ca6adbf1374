// Conditions that controllers set on pods of others.
#pragma once

#include <string_view>

#include "controllers/runtime/plan.h"

namespace muster::controllers {

// Set before the deletion, so that a podFailurePolicy can tell it from a failure.
json::Value disruption_target(json::Arena& arena, std::string_view reason, std::string_view message,
                              Time now);

// Sets one condition; all others stay as they are.
client::Operation patch_condition(const api::Resource& pods, const ObjectRef& pod,
                                  json::Value condition);

}  // namespace muster::controllers
