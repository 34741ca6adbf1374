// The part of JSONPath that printer columns use:
// `.status.conditions[?(@.type=="Completed")].status`,
// `.metadata.labels.example\.com/x`, `.spec.items[0].name`, `.spec.items[*]`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace muster::api {

class PrinterPath {
 public:
  static std::optional<PrinterPath> parse(
      std::string_view text);  // nothing if it is not understood
  // The first match; null if there is none.
  json::Value find(json::Value root) const { return find(root, 0); }

 private:
  struct Step {
    enum class Kind { kMember, kIndex, kEach, kFilter };
    Kind kind = Kind::kMember;
    std::string name;                  // kMember
    std::size_t index = 0;             // kIndex
    std::vector<std::string> members;  // kFilter: the path from an item to what is compared
    std::string wanted;                // kFilter: equal to this text
  };
  static std::optional<Step> parse_bracket(std::string_view inside);
  static std::optional<Step> parse_filter(std::string_view condition);
  json::Value find(json::Value value, std::size_t step) const;

  std::vector<Step> steps_;
};

}  // namespace muster::api
