// `muster describe` as text. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "story/events_text.h"

namespace muster::story {

// A JobSet: how it stands, its stages with counts and what they wait for, pods, conditions, events.
std::string describe_job_set(json::Value job_set, const std::vector<json::Value>& pods,
                             const std::vector<EventRow>& events, Time now);

// Any object: its fields as YAML, then its events.
std::string describe_object(json::Value object, const std::vector<EventRow>& events, Time now);

}  // namespace muster::story
