// One row of a Table while it is being filled, and the words that tables use.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"

namespace muster::api {

inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnset = "<unset>";
inline constexpr std::string_view kUnknownCell = "<unknown>";

class Row {
 public:
  // `cells` is the array that the cells are appended to.
  Row(json::Value object, Time now, json::Value cells)
      : object_(object), now_(now), cells_(cells) {}

  json::Value object() const { return object_; }
  json::Value get(std::initializer_list<std::string_view> path) const { return object_.get(path); }
  std::string_view text_of(std::initializer_list<std::string_view> path) const {
    return get(path).as_string();
  }
  bool is_deleted() const { return text_of({"metadata", "deletionTimestamp"}) != ""; }
  Time now() const { return now_; }
  // "5m" since a time of the object; "<unknown>" if it is not set.
  std::string since(json::Value time) const;

  void text(std::string_view text, std::string_view if_empty = "");
  void number(std::int64_t number) { cells_.push_back(json::Value::of(number)); }
  void flag(bool flag) { cells_.push_back(json::Value::of(flag)); }
  void value(json::Value scalar) { cells_.push_back(scalar); }  // a number, a switch or null
  void name() { text(text_of({"metadata", "name"})); }
  void age() { text(since(get({"metadata", "creationTimestamp"}))); }
  void created_at();
  // The cells Containers and Images of a pod template's spec.
  void containers(json::Value pod_spec);

 private:
  json::Value object_;
  Time now_;
  json::Value cells_;
};

std::optional<Time> time_of(json::Value value);
std::string scalar_text(json::Value value);       // of an IntOrString, a number, a switch
std::string selector_text(json::Value selector);  // of a LabelSelector object
std::string labels_text(json::Value labels);      // k=v,k=v; of a map
// `a,b,c + 2 more...`; `if_empty` for nothing.
std::string shortened_list(const std::vector<std::string>& all, std::size_t shown,
                           std::string_view if_empty);

}  // namespace muster::api
