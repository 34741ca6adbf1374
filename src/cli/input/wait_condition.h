// What `wait --for` waits for. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json_path.h"
#include "json/value.h"

namespace muster::cli {

class WaitCondition {
 public:
  // "delete", "condition=Completed", "condition=Ready=false", "jsonpath={.status.phase}=Running",
  // "jsonpath={.status.phase}" (anything).
  static Result<WaitCondition> parse(std::string_view text);

  bool deletion() const { return kind_ == Kind::kDelete; }
  bool is_condition(std::string_view lower_case_type) const;  // with status True
  bool holds(json::Value object) const;

 private:
  enum class Kind { kDelete, kCondition, kPath };
  Kind kind_ = Kind::kDelete;
  std::string type_;
  std::string status_;
  std::optional<json::JsonPath> path_;
  std::optional<std::string> value_;
};

// A JobSet or Job with the condition Failed.
bool has_ended_badly(json::Value object);

}  // namespace muster::cli
