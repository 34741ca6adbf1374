// What agent, keeper and shims tell each other and write down, as JSON.
#pragma once

#include "json/value.h"
#include "runtime/runtime.h"

namespace muster::runtime {

json::Value to_json(json::Arena& arena, const PodSpec& pod);
json::Value to_json(json::Arena& arena, const RunSpec& run);
json::Value to_json(json::Arena& arena, const RunState& state);  // without the pod's uid
json::Value to_json(json::Arena& arena, const Ability& ability);

// Members that are absent keep their defaults.
PodSpec pod_spec_from(json::Value value);
RunSpec run_spec_from(json::Value value);
RunState run_state_from(json::Value value, const std::string& pod_uid);
Ability ability_from(json::Value value);

json::Value strings_to_json(json::Arena& arena, const std::vector<std::string>& strings);
std::vector<std::string> strings_from(json::Value value);

}  // namespace muster::runtime
