#include "json/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "json/write.h"

namespace muster::json {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string text_of(Value value) {
  if (value.is_null()) return "";
  return value.is_string() ? std::string(value.as_string()) : write(value);
}

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
}

// The inside of a quoted text with \n, \t and \" resolved.
std::string unquoted(std::string_view text) {
  std::string out;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return out;
}

// Where the character is that ends an expression; quotes hide it.
std::size_t end_of(std::string_view text, char open, char close) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == quote) {
        quote = '\0';
      }
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && --depth == 0) {
      return i;
    }
  }
  return text.npos;
}

void append_deep(std::vector<Value>& out, Value value, std::string_view name) {
  if (const Value* found = value.find(name)) out.push_back(*found);
  for (const Value item : value.items()) append_deep(out, item, name);
  for (const auto& member : value.members()) append_deep(out, member.value, name);
}

// Numbers as numbers, everything else as text.
int compare(const std::string& a, const std::string& b) {
  double x = 0, y = 0;
  const auto [x_end, x_error] = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto [y_end, y_error] = std::from_chars(b.data(), b.data() + b.size(), y);
  const bool numbers = x_error == std::errc() && y_error == std::errc() &&
                       x_end == a.data() + a.size() && y_end == b.data() + b.size();
  if (numbers) return x < y ? -1 : x > y ? 1 : 0;
  return a.compare(b);
}

auto bad_path(std::string_view what) {
  return fail(Code::kInvalid, fmt::format("jsonpath: {}", what));
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  const std::string whole =
      text.contains('{') ? std::string(text) : fmt::format("{{{}}}", trimmed(text));
  std::string_view rest = whole;
  JsonPath path;
  MUSTER_TRY(path.parts_, parse_parts(rest, false));
  return path;
}

Result<std::vector<JsonPath::Part>> JsonPath::parse_parts(std::string_view& text,
                                                          bool inside_range) {
  std::vector<Part> parts;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    if (open > 0)
      parts.push_back({.kind = Part::Kind::kText, .text = std::string(text.substr(0, open))});
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = end_of(text, '{', '}');
    if (close == text.npos) return bad_path(fmt::format("\"{}\" has no end", text));
    const std::string_view inside = trimmed(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
    if (inside == "end") {
      if (inside_range) return parts;
      return bad_path("{end} without {range}");
    }
    if (is_quoted(inside)) {
      parts.push_back({.kind = Part::Kind::kText, .text = unquoted(inside)});
    } else if (inside.starts_with("range ")) {
      Part range{.kind = Part::Kind::kRange, .text = {}};
      MUSTER_TRY(range.path, parse_path(trimmed(inside.substr(6))));
      MUSTER_TRY(range.body, parse_parts(text, true));
      parts.push_back(std::move(range));
    } else {
      Part path{.kind = Part::Kind::kPath, .text = {}};
      MUSTER_TRY(path.path, parse_path(inside));
      parts.push_back(std::move(path));
    }
  }
  if (inside_range) return bad_path("{range} without {end}");
  return parts;
}

Result<std::vector<JsonPath::Step>> JsonPath::parse_path(std::string_view text) {
  std::vector<Step> steps;
  if (text.starts_with('$') || text.starts_with('@')) text.remove_prefix(1);
  while (!text.empty()) {
    if (text[0] == '[') {
      const std::size_t close = end_of(text, '[', ']');
      if (close == text.npos) return bad_path(fmt::format("\"{}\" has no \"]\"", text));
      MUSTER_TRY(Step step, parse_bracket(trimmed(text.substr(1, close - 1))));
      steps.push_back(std::move(step));
      text.remove_prefix(close + 1);
      continue;
    }
    Step step;
    if (text.starts_with("..")) {
      step.kind = Step::Kind::kDeep;
      text.remove_prefix(2);
    } else if (text[0] == '.') {
      text.remove_prefix(1);
    } else if (!steps.empty()) {
      return bad_path(fmt::format("\"{}\" does not go on with \".\" or \"[\"", text));
    }
    std::size_t end = 0;
    for (; end < text.size() && text[end] != '.' && text[end] != '['; ++end) {
      if (text[end] == '\\' && end + 1 < text.size()) ++end;
      step.name += text[end];
    }
    text.remove_prefix(end);
    if (step.name == "*") step = {.kind = Step::Kind::kEach, .name = {}};
    if (!step.name.empty() || step.kind == Step::Kind::kEach) steps.push_back(std::move(step));
  }
  return steps;
}

Result<JsonPath::Step> JsonPath::parse_bracket(std::string_view inside) {
  if (inside == "*") return Step{.kind = Step::Kind::kEach, .name = {}};
  if (is_quoted(inside)) return Step{.kind = Step::Kind::kMember, .name = unquoted(inside)};
  if (inside.starts_with("?(") && inside.ends_with(')'))
    return parse_filter(trimmed(inside.substr(2, inside.size() - 3)));
  Step step{.kind = Step::Kind::kIndex, .name = {}};
  const auto [end, error] =
      std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
  if (error != std::errc() || end != inside.data() + inside.size())
    return bad_path(fmt::format("\"[{}]\" is not understood", inside));
  return step;
}

Result<JsonPath::Step> JsonPath::parse_filter(std::string_view condition) {
  Step step{.kind = Step::Kind::kFilter, .name = {}};
  std::size_t at = condition.npos;
  for (const std::string_view relation : {"==", "!=", "<=", ">=", "<", ">"}) {
    at = condition.find(relation);
    if (at == condition.npos) continue;
    step.relation = relation;
    break;
  }
  if (!step.relation.empty()) {
    const std::string_view right = trimmed(condition.substr(at + step.relation.size()));
    step.right = is_quoted(right) ? unquoted(right) : std::string(right);
    condition = trimmed(condition.substr(0, at));
  }
  if (!condition.starts_with('@'))
    return bad_path(fmt::format("a filter begins with \"@\", not \"{}\"", condition));
  MUSTER_TRY(step.left, parse_path(condition));
  return step;
}

template <class Wanted>
bool JsonPath::search(Value value, std::span<const Step> path, const Wanted& wanted) {
  if (path.empty()) return wanted(value);
  const Step& step = path.front();
  const auto beyond = [rest = path.subspan(1), &wanted](Value found) {
    return search(found, rest, wanted);
  };
  switch (step.kind) {
    case Step::Kind::kMember: {
      const Value* member = value.find(step.name);
      return member != nullptr && beyond(*member);
    }
    case Step::Kind::kIndex: {
      const auto size = static_cast<std::int64_t>(value.items().size());
      const std::int64_t index = step.index < 0 ? size + step.index : step.index;
      return index >= 0 && index < size && beyond(value.item(static_cast<std::size_t>(index)));
    }
    case Step::Kind::kEach:
      return std::ranges::any_of(value.items(), beyond) ||
             std::ranges::any_of(value.members(), beyond, &Member::value);
    case Step::Kind::kFilter:
      return std::ranges::any_of(value.items(),
                                 [&](Value item) { return holds(item, step) && beyond(item); });
    case Step::Kind::kDeep: {
      std::vector<Value> found;
      append_deep(found, value, step.name);
      return std::ranges::any_of(found, beyond);
    }
  }
  return false;
}

bool JsonPath::holds(Value item, const Step& filter) {
  std::optional<Value> left;
  search(item, filter.left, [&left](Value found) {
    left = found;
    return true;
  });
  if (!left || filter.relation.empty()) return left.has_value();
  const int order = compare(text_of(*left), filter.right);
  if (filter.relation == "==") return order == 0;
  if (filter.relation == "!=") return order != 0;
  if (filter.relation == "<") return order < 0;
  if (filter.relation == "<=") return order <= 0;
  if (filter.relation == ">") return order > 0;
  return order >= 0;
}

void JsonPath::print(std::string& out, Value root, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.kind == Part::Kind::kText) {
      out += part.text;
      continue;
    }
    bool first = true;
    search(root, part.path, [&](Value value) {
      if (part.kind == Part::Kind::kRange) {
        print(out, value, part.body);
        return false;
      }
      if (!std::exchange(first, false)) out += ' ';
      out += text_of(value);
      return false;
    });
  }
}

std::string JsonPath::print(Value root) const {
  std::string out;
  print(out, root, parts_);
  return out;
}

Value JsonPath::first(Value root) const {
  Value first;
  if (parts_.size() != 1 || parts_.front().kind != Part::Kind::kPath) return first;
  search(root, parts_.front().path, [&first](Value found) {
    first = found;
    return !found.is_null();
  });
  return first;
}

}  // namespace muster::json
