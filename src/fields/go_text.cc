#include "fields/go_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/field_error.h"

namespace muster::fields {
namespace {

using json::Member;
using json::Value;

std::vector<Member> sorted_members(Value object) {
  std::vector<Member> members(object.members().begin(), object.members().end());
  std::ranges::sort(members, {}, &Member::key);
  return members;
}

// The shortest digits that read back as the same number, with an exponent below 1e-4 and from 1e6
// on.
std::string real(double value) {
  constexpr std::size_t kRoom = 400;  // the largest double has 309 digits
  char text[kRoom];
  const char* end = std::to_chars(text, text + kRoom, value, std::chars_format::scientific).ptr;
  int exponent = 0;
  const char* const e = std::find(static_cast<const char*>(text), end, 'e') + 1;
  std::from_chars(*e == '+' ? e + 1 : e, end, exponent);
  if (value == 0 || (exponent >= -4 && exponent < 6)) {
    end = std::to_chars(text, text + kRoom, value, std::chars_format::fixed).ptr;
  }
  return {static_cast<const char*>(text), end};
}

std::string scalar(Value value) {
  switch (value.kind()) {
    case json::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case json::Kind::kInt:
      return fmt::format("{}", value.as_int());
    case json::Kind::kUint:
      return real(value.as_double());  // beyond int64 Go holds a float64
    case json::Kind::kDouble:
      return real(value.as_double());
    default:
      return std::string(value.as_string());
  }
}

}  // namespace

std::string go_plain(Value value) {
  std::string text;
  if (value.is_null()) return "<nil>";
  if (value.is_array()) {
    for (const Value item : value.items())
      text += fmt::format("{}{}", text.empty() ? "" : " ", go_plain(item));
    return "[" + text + "]";
  }
  if (!value.is_object()) return scalar(value);
  for (const Member& member : sorted_members(value)) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", member.key, go_plain(member.value));
  }
  return "map[" + text + "]";
}

std::string go_syntax(Value value) {
  std::string text;
  if (value.is_null()) return "interface {}(nil)";
  if (value.is_string()) return api::quote(value.as_string());
  if (value.is_array()) {
    for (const Value item : value.items())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", go_syntax(item));
    return "[]interface {}{" + text + "}";
  }
  if (!value.is_object()) return scalar(value);
  for (const Member& member : sorted_members(value)) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", api::quote(member.key),
                        go_syntax(member.value));
  }
  return "map[string]interface {}{" + text + "}";
}

std::string_view go_type_name(Value value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return "<nil>";
    case json::Kind::kBool:
      return "bool";
    case json::Kind::kInt:
      return "int64";
    case json::Kind::kUint:
    case json::Kind::kDouble:
      return "float64";
    case json::Kind::kString:
      return "string";
    case json::Kind::kArray:
      return "[]interface {}";
    case json::Kind::kObject:
      return "map[string]interface {}";
  }
  return "";
}

}  // namespace muster::fields
