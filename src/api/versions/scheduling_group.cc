#include "api/versions/scheduling_group.h"

namespace muster::api {

using json::Value;

void disruption_mode_to_storage(Value group) {
  const Value* const mode = group.find("disruptionMode");
  if (mode == nullptr) return;
  const std::string_view name = mode->as_string();
  group.erase("disruptionMode");
  if (name != "Pod" && name != "PodGroup") return;
  group.object_at("disruptionMode").object_at(name == "Pod" ? "single" : "all");
}

void disruption_mode_from_storage(Value group) {
  const Value* const found = group.find("disruptionMode");
  if (found == nullptr) return;
  const Value mode = *found;
  group.erase("disruptionMode");
  const bool single = mode.get("single").is_object();
  if (single == mode.get("all").is_object()) return;
  group.set("disruptionMode", single ? "Pod" : "PodGroup");
}

}  // namespace muster::api
