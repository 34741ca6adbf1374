// JSONPath, as kubectl and the printer columns of custom resources read it:
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

namespace muster::json {

class JsonPath {
 public:
  // A text without braces is one expression: ".status.phase" as "{.status.phase}".
  static Result<JsonPath> parse(std::string_view text);

  // The text with its expressions replaced; several values are set apart by blanks. What is absent
  // is empty.
  std::string print(Value root) const;
  // Of a text that is one expression: the first value that is not null; null if there is none.
  Value first(Value root) const;

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
  // Whether `wanted` took a value: it is called with each that the path leads to until it returns
  // true.
  template <class Wanted>
  static bool search(Value value, std::span<const Step> path, const Wanted& wanted);
  static bool holds(Value item, const Step& filter);
  static void print(std::string& out, Value root, const std::vector<Part>& parts);

  std::vector<Part> parts_;
};

}  // namespace muster::json
