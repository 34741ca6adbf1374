#include "fields/path_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/values/field_error.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::fields {
namespace {

using json::Value;

// Numbers, strings, booleans, lists, objects, null: the order of different kinds of values.
int rank(Value value) {
  if (value.is_number()) return 0;
  if (value.is_string()) return 1;
  if (value.is_bool()) return 2;
  if (value.is_array()) return 3;
  return value.is_object() ? 4 : 5;
}

template <class T>
std::weak_ordering order(const T& a, const T& b) {
  const auto o = a <=> b;
  if (o < 0) return std::weak_ordering::less;
  return o > 0 ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

// Exact for every mixture: an order with rounding would not be transitive, and sorting needs that.
std::weak_ordering compare_numbers(Value a, Value b) {
  static_assert(std::numeric_limits<long double>::digits >= 64,
                "holds 64-bit integers and doubles");
  const auto exact = [](Value v) -> long double {
    if (v.kind() == json::Kind::kDouble) return v.as_double();
    return v.is_int() ? static_cast<long double>(v.as_int())
                      : static_cast<long double>(v.as_uint());
  };
  return order(exact(a), exact(b));
}

std::weak_ordering compare_values(Value a, Value b);

std::weak_ordering compare_lists(Value a, Value b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const auto o = compare_values(a.item(i), b.item(i)); o != 0) return o;
  }
  return order(a.size(), b.size());
}

// Member by member, in their order: key fields are sorted by name when the element is made.
std::weak_ordering compare_objects(Value a, Value b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    const json::Member& left = a.members()[i];
    const json::Member& right = b.members()[i];
    if (const auto o = order(left.key, right.key); o != 0) return o;
    if (const auto o = compare_values(left.value, right.value); o != 0) return o;
  }
  return order(a.size(), b.size());
}

std::weak_ordering compare_values(Value a, Value b) {
  if (const auto o = order(rank(a), rank(b)); o != 0) return o;
  switch (rank(a)) {
    case 0:
      return compare_numbers(a, b);
    case 1:
      return order(a.as_string(), b.as_string());
    case 2:
      return order(a.as_bool(), b.as_bool());
    case 3:
      return compare_lists(a, b);
    case 4:
      return compare_objects(a, b);
    default:
      return std::weak_ordering::equivalent;
  }
}

std::string value_text(Value value) {
  return value.is_string() ? api::quote(value.as_string()) : json::write(value);
}

Result<std::optional<PathElement>> parse_index(std::string_view key) {
  std::int64_t at = 0;
  const std::string_view digits = key.substr(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return fail(Code::kBadRequest, fmt::format("no index: {}", key));
  }
  return PathElement::index(at);
}

}  // namespace

std::weak_ordering compare(const PathElement& a, const PathElement& b) {
  if (a.kind != b.kind) return order(a.kind, b.kind);
  if (a.kind == PathElement::Kind::kField) return order(a.name, b.name);
  return compare_values(a.value, b.value);
}

void append_key(std::string& out, const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::kField:
      out.append("f:").append(element.name);
      return;
    case PathElement::Kind::kKey:
      out.append("k:");
      break;
    case PathElement::Kind::kValue:
      out.append("v:");
      break;
    case PathElement::Kind::kIndex:
      out.append("i:");
      break;
  }
  json::write(out, element.value);
}

Result<std::optional<PathElement>> parse_key(json::Arena& arena, std::string_view key) {
  if (key.size() < 2) return fail(Code::kBadRequest, "key must be 2 characters long:");
  if (key[1] != ':') return fail(Code::kBadRequest, fmt::format("missing colon: {}", key));
  switch (key[0]) {
    case 'f':
      return PathElement::field(key.substr(2));
    case 'i':
      return parse_index(key);
    case 'v': {
      MUSTER_TRY(const Value value, json::parse(arena, key.substr(2)));
      return PathElement::item(value);
    }
    case 'k': {
      MUSTER_TRY(const Value fields, json::parse(arena, key.substr(2)));
      if (!fields.is_object()) return fail(Code::kBadRequest, fmt::format("no object: {}", key));
      fields.sort_keys();
      return PathElement::key(fields);
    }
    default:
      return std::nullopt;
  }
}

std::string to_text(const PathElement& element) {
  switch (element.kind) {
    case PathElement::Kind::kField:
      return fmt::format(".{}", element.name);
    case PathElement::Kind::kValue:
      return fmt::format("[={}]", value_text(element.value));
    case PathElement::Kind::kIndex:
      return fmt::format("[{}]", element.value.as_int());
    case PathElement::Kind::kKey:
      break;
  }
  std::string text;
  for (const json::Member& field : element.value.members()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", field.key, value_text(field.value));
  }
  return "[" + text + "]";
}

std::string to_text(std::span<const PathElement> path) {
  std::string text;
  for (const PathElement& element : path) text += to_text(element);
  return text;
}

}  // namespace muster::fields
