// Conditions where they stand in an object. views.h has them read.
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::api {

json::Value condition_of(json::Value conditions, std::string_view type);  // null if absent
bool is_true(json::Value condition);                                      // has status True

// The same of an object's status.conditions.
inline json::Value find_condition(json::Value object, std::string_view type) {
  return condition_of(object.get({"status", "conditions"}), type);
}
inline bool has_condition(json::Value object, std::string_view type) {
  return is_true(find_condition(object, type));
}

}  // namespace muster::api
