#include "api/tables/printer_path.h"

#include <algorithm>
#include <charconv>

#include "json/write.h"

namespace muster::api {
namespace {

// Cuts a member's name off the front, up to the next unescaped dot or bracket.
std::string take_name(std::string_view& text) {
  std::string name;
  while (!text.empty() && text[0] != '.' && text[0] != '[') {
    if (text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
    name += text[0];
    text.remove_prefix(1);
  }
  return name;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
}

std::string_view unquoted(std::string_view text) {
  return is_quoted(text) ? text.substr(1, text.size() - 2) : text;
}

// Where the bracket that `text` begins with is closed; quotes hide brackets.
std::size_t closing_bracket(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == ']') {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string comparable(json::Value value) {
  return value.is_string() ? std::string(value.as_string()) : json::write(value);
}

}  // namespace

std::optional<PrinterPath::Step> PrinterPath::parse_filter(std::string_view condition) {
  const auto equals = condition.find("==");
  if (equals == std::string_view::npos || !condition.starts_with('@')) return std::nullopt;
  Step step{.kind = Step::Kind::kFilter};
  step.wanted = unquoted(trimmed(condition.substr(equals + 2)));
  auto path = trimmed(condition.substr(1, equals - 1));
  while (path.starts_with('.')) {
    path.remove_prefix(1);
    step.members.push_back(take_name(path));
  }
  if (!path.empty()) return std::nullopt;
  return step;
}

std::optional<PrinterPath::Step> PrinterPath::parse_bracket(std::string_view inside) {
  if (inside == "*") return Step{.kind = Step::Kind::kEach};
  if (inside.starts_with("?(") && inside.ends_with(')')) {
    return parse_filter(trimmed(inside.substr(2, inside.size() - 3)));
  }
  if (is_quoted(inside))
    return Step{.kind = Step::Kind::kMember, .name = std::string(unquoted(inside))};
  Step step{.kind = Step::Kind::kIndex};
  const auto [end, error] =
      std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
  if (error != std::errc() || end != inside.data() + inside.size()) return std::nullopt;
  return step;
}

std::optional<PrinterPath> PrinterPath::parse(std::string_view text) {
  PrinterPath path;
  while (!text.empty()) {
    if (text[0] == '.') {
      text.remove_prefix(1);
      auto name = take_name(text);
      if (name.empty()) return std::nullopt;
      path.steps_.push_back({.kind = Step::Kind::kMember, .name = std::move(name)});
    } else if (text[0] == '[') {
      const auto end = closing_bracket(text);
      if (end == std::string_view::npos) return std::nullopt;
      auto step = parse_bracket(trimmed(text.substr(1, end - 1)));
      if (!step) return std::nullopt;
      path.steps_.push_back(*std::move(step));
      text.remove_prefix(end + 1);
    } else {
      return std::nullopt;
    }
  }
  return path;
}

json::Value PrinterPath::find(json::Value value, std::size_t step) const {
  if (step == steps_.size()) return value;
  const Step& next = steps_[step];
  if (next.kind == Step::Kind::kMember) return find(value.get(next.name), step + 1);
  if (next.kind == Step::Kind::kIndex) return find(value.item(next.index), step + 1);
  for (const json::Value item : value.items()) {
    json::Value compared = item;
    for (const std::string& member : next.members) compared = compared.get(member);
    if (next.kind == Step::Kind::kFilter && comparable(compared) != next.wanted) continue;
    const json::Value found = find(item, step + 1);
    if (!found.is_null()) return found;
  }
  return {};
}

}  // namespace muster::api
