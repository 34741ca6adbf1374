// Templates of `-o jsonpath=…` and `wait --for=jsonpath=…`, as kubectl reads them:
//   {.metadata.name}  {.items[*].metadata.name}  {range .items[*]}{.metadata.name}{"\n"}{end}
//   {.status.conditions[?(@.type=="Failed")].message}  {.metadata.labels.example\.com/x}  {..name}
// Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::cli {

class JsonPath {
 public:
  // A text without braces is one expression: ".status.phase" as "{.status.phase}".
  static Result<JsonPath> parse(std::string_view text);

  // The text with its expressions replaced; several values are set apart by blanks. What is absent
  // is empty.
  std::string print(json::Value root) const;

 private:
  struct Step {
    enum class Kind { kMember, kIndex, kEach, kFilter, kDeep };
    Kind kind = Kind::kMember;
    std::string name;             // kMember, kDeep
    std::int64_t index = 0;       // kIndex; negative: from the end
    std::vector<Step> left = {};  // kFilter: from the item to what is compared
    std::string relation = {};    // ==, !=, <, <=, >, >=; empty: it is there
    std::string right = {};
  };
  struct Part {
    enum class Kind { kText, kPath, kRange };
    Kind kind = Kind::kText;
    std::string text;
    std::vector<Step> path = {};
    std::vector<Part> body = {};  // kRange
  };

  static Result<std::vector<Part>> parse_parts(std::string_view& text, bool inside_range);
  static Result<std::vector<Step>> parse_path(std::string_view text);
  static Result<Step> parse_bracket(std::string_view inside);
  static Result<Step> parse_filter(std::string_view condition);
  static std::vector<json::Value> find(json::Value root, std::span<const Step> path);
  static bool holds(json::Value item, const Step& filter);
  static void print(std::string& out, json::Value root, const std::vector<Part>& parts);

  std::vector<Part> parts_;
};

}  // namespace muster::cli
