// Label and field selectors (spec: apimachinery 4.4, 6.3).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::api {

struct Requirement {
  enum class Op : std::uint8_t { kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
  std::string key;
  Op op = Op::kExists;
  std::vector<std::string> values;
  bool exact = false;  // kIn, kNotIn: written `key=value`, `key!=value`

  bool operator==(const Requirement&) const = default;
};

// Looks a label up; nothing if the object does not have it.
using LabelLookup = std::function<std::optional<std::string_view>(std::string_view key)>;

class LabelSelector {
 public:
  static Result<LabelSelector> parse(std::string_view text);  // `a=b,c in (d,e),!f`
  static Result<LabelSelector> from_object(
      json::Value selector);  // {matchLabels, matchExpressions}; null matches nothing
  bool matches(const LabelLookup& labels) const;
  bool matches(json::Value labels) const;  // an object of strings, or null
  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  std::string text() const;  // as upstream prints it: `a=b,c in (d,e),!f`, sorted by key

 private:
  std::vector<Requirement> requirements_;  // sorted by key
  bool nothing_ = false;
};

struct FieldRequirement {
  std::string field;
  bool equal = true;
  std::string value;
};

class FieldSelector {
 public:
  static Result<FieldSelector> parse(std::string_view text);
  const std::vector<FieldRequirement>& requirements() const { return requirements_; }
  bool empty() const { return requirements_.empty(); }
  // `value_of` gives the text of a field, "" if absent.
  bool matches(const std::function<std::string(std::string_view field)>& value_of) const;
  void add(FieldRequirement requirement) { requirements_.push_back(std::move(requirement)); }

 private:
  std::vector<FieldRequirement> requirements_;
};

}  // namespace muster::api
