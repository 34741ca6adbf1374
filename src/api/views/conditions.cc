#include "api/views/conditions.h"

namespace muster::api {

json::Value condition_of(json::Value conditions, std::string_view type) {
  for (const json::Value condition : conditions.items()) {
    if (condition.get("type").as_string() == type) return condition;
  }
  return {};
}

bool is_true(json::Value condition) { return condition.get("status").as_string() == "True"; }

}  // namespace muster::api
