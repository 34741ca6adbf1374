#include "json/go_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace muster::json {
namespace {

// %g with the shortest digits: an exponent below 1e-4 and from 1e6 on.
void append_double(std::string& out, double value) {
  char text[64];
  const double size = std::fabs(value);
  const auto format = size != 0 && (size < 1e-4 || size >= 1e6) ? std::chars_format::scientific
                                                                : std::chars_format::fixed;
  out.append(text, std::to_chars(text, text + sizeof text, value, format).ptr);
}

void append(std::string& out, Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      out += "<nil>";
      return;
    case Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Kind::kInt:
      out += fmt::to_string(value.as_int());
      return;
    case Kind::kUint:
      return append_double(out, value.as_double());  // Go decodes it as a float64
    case Kind::kDouble:
      return append_double(out, value.as_double());
    case Kind::kString:
      out += value.as_string();
      return;
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  std::vector<Member> sorted(value.members().begin(), value.members().end());
  std::ranges::sort(sorted, {}, &Member::key);
  out += value.is_object() ? "map[" : "[";
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) out += ' ';
  };
  for (const Member& member : sorted) {
    separate();
    out += member.key;
    out += ':';
    append(out, member.value);
  }
  for (const Value item : value.items()) {
    separate();
    append(out, item);
  }
  out += ']';
}

}  // namespace

std::string go_text(Value value) {
  std::string out;
  append(out, value);
  return out;
}

std::string_view go_type(Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "<nil>";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "[]interface {}";
    case Kind::kObject:
      return "map[string]interface {}";
  }
  return {};
}

}  // namespace muster::json
