// What an Event object of the server says to who follows a JobSet. Pure.
#pragma once

#include <optional>

#include "cli/follow/follow_event.h"
#include "json/value.h"

namespace muster::cli {

// Nothing if it says nothing that the objects themselves do not tell. It may be of another JobSet.
std::optional<FollowEvent> heard_event(json::Value warning);

}  // namespace muster::cli
