// One step of a path into an object (spec: apimachinery 1.1): a field or map key, an item of a list
// that is keyed by some of its fields, an item of a set, or an index.
//
// Elements are views: they hold names and values of the trees and arenas that they were made from.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace muster::fields {

struct PathElement {
  enum class Kind : std::uint8_t { kField, kKey, kValue, kIndex };  // in the order of sets

  Kind kind = Kind::kField;
  std::string_view name;  // kField
  json::Value value;  // kKey: the key fields, an object sorted by name; kValue: a scalar; kIndex

  static PathElement field(std::string_view name) { return {Kind::kField, name, {}}; }
  static PathElement key(json::Value key_fields) { return {Kind::kKey, {}, key_fields}; }
  static PathElement item(json::Value scalar) { return {Kind::kValue, {}, scalar}; }
  static PathElement index(std::int64_t at) { return {Kind::kIndex, {}, json::Value::of(at)}; }
};

// The order of elements in a set: fields by name, keys field by field, values as JSON values are
// ordered.
std::weak_ordering compare(const PathElement& a, const PathElement& b);
inline bool operator==(const PathElement& a, const PathElement& b) {
  return a.kind == b.kind &&
         (a.kind == PathElement::Kind::kField ? a.name == b.name : compare(a, b) == 0);
}
struct PathElementLess {
  bool operator()(const PathElement& a, const PathElement& b) const { return compare(a, b) < 0; }
};

// As a key of FieldsV1: f:spec, k:{"name":"c"}, v:"a", i:3.
void append_key(std::string& out, const PathElement& element);
// The reverse. Nothing if the element is of a kind that we do not know: such ones are skipped. The
// element views `key`.
Result<std::optional<PathElement>> parse_key(json::Arena& arena, std::string_view key);

// As in messages: .spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].name,
// .metadata.finalizers[="a"].
std::string to_text(std::span<const PathElement> path);
std::string to_text(const PathElement& element);

}  // namespace muster::fields
