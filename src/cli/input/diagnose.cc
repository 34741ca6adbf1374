#include "cli/input/diagnose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/terminal_text.h"
#include "json/write.h"

namespace muster::cli {
namespace {

// Every text in double quotes.
std::vector<std::string> quoted(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string_view::npos;) {
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line)
    text.remove_prefix(std::min(text.size(), text.find('\n') == std::string_view::npos
                                                 ? text.size()
                                                 : text.find('\n') + 1));
  return text.substr(0, text.find('\n'));
}

// One column stays one column, so that the mark below points at the right one.
std::string plain_line(std::string_view line) {
  std::string out(line);
  for (char& c : out) {
    if (c == '\t' || c == '\r') c = ' ';
  }
  return plain_text(out);
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// What is shown of a line, and how far into it the fault begins.
struct Excerpt {
  std::string text;
  std::size_t mark = 0;
  std::size_t room = 0;  // for the mark
};

// A file for programs may be one line of any length: as much of it as helps to find the place.
Excerpt excerpt(std::string_view line, std::size_t column) {
  constexpr std::size_t kLongest = 120, kBefore = 40;
  constexpr std::string_view kMore = "...";
  const auto is_inside_letter = [&](std::size_t at) {
    return at < line.size() && (line[at] & 0xC0) == 0x80;
  };
  const std::size_t fault = std::min(column - 1, line.size());
  std::size_t begin = 0, end = line.size();
  if (line.size() > kLongest) {
    begin = fault > kBefore ? fault - kBefore : 0;
    end = std::min(line.size(), begin + kLongest);
    while (is_inside_letter(begin)) ++begin;
    while (is_inside_letter(end)) ++end;
  }
  const std::string before = std::string(begin > 0 ? kMore : std::string_view()) +
                             plain_line(line.substr(begin, fault - begin));
  const std::string after = plain_line(line.substr(fault, end - fault));
  return {.text = before + after + std::string(end < line.size() ? kMore : std::string_view()),
          .mark = letters(before),
          .room = letters(after)};
}

// The schema of the struct that a path's last part lies in.
const api::Schema* schema_around(const api::Schema* schema, std::string_view path) {
  while (schema != nullptr) {
    const std::size_t end = path.find_first_of(".[");
    if (end == std::string_view::npos) return schema;
    if (path[0] == '[') {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos) return nullptr;
      schema = schema->elem;
      path.remove_prefix(close + 1);
    } else {
      if (end > 0) {
        const api::Field* field = schema->field(path.substr(0, end));
        schema = field == nullptr ? nullptr : field->schema;
      }
      path.remove_prefix(path[end] == '.' ? end + 1 : end);
    }
  }
  return nullptr;
}

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// What of a list item server-side apply names it by: `name="main"`, `port=80`; a value of a set has
// no name.
struct ItemKey {
  std::string_view name;
  std::string_view value;  // JSON
};

// How long the JSON value at the front is, in a list of keys.
std::size_t value_length(std::string_view text) {
  if (!text.starts_with('"')) return std::min(text.find_first_of(",]"), text.size());
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Those in the brackets at the front of a path, which are cut off it.
std::vector<ItemKey> take_item_keys(std::string_view& path) {
  std::vector<ItemKey> keys;
  while (!path.empty() && path.front() != ']') {
    path.remove_prefix(1);  // the bracket or a comma
    const std::size_t equals = std::min(path.find('='), path.size());
    const std::string_view name = path.substr(0, equals);
    path.remove_prefix(std::min(equals + 1, path.size()));
    const std::size_t length = value_length(path);
    keys.push_back({.name = name, .value = path.substr(0, length)});
    path.remove_prefix(length);
  }
  path.remove_prefix(path.empty() ? 0 : 1);
  return keys;
}

// A key that the file leaves out has a default, which we do not know.
bool has_keys(json::Value item, const std::vector<ItemKey>& keys) {
  return std::ranges::all_of(keys, [&](const ItemKey& key) {
    const json::Value value = key.name.empty() ? item : item.get(key.name);
    return value.is_null() || json::write(value) == key.value;
  });
}

// A path as server-side apply writes it (`.spec.jobs[name="a"].x`) in the form that positions have
// (`spec.jobs[1].x`). One that has this form already stays as it is.
std::string path_in_file(std::string_view path, json::Value at) {
  std::string out;
  if (path.starts_with('.')) path.remove_prefix(1);
  while (!path.empty()) {
    const bool is_item = path.front() == '[';
    if (is_item && path.substr(0, path.find(']')).contains('=')) {
      const auto keys = take_item_keys(path);
      const auto items = at.items();
      const auto found =
          std::ranges::find_if(items, [&](json::Value item) { return has_keys(item, keys); });
      if (found == items.end()) return out;  // as near as it can be told
      out += fmt::format("[{}]", found - items.begin());
      at = *found;
      continue;
    }
    const std::size_t end = std::min(path.find_first_of(".[", 1), path.size());
    const std::string_view part = path.substr(0, end);
    out += part;
    path.remove_prefix(end);
    std::size_t index = 0;
    if (is_item) {
      std::from_chars(part.data() + 1, part.data() + part.size(), index);
      at = index < at.size() ? at.item(index) : json::Value();
    } else {
      at = at.get(part.starts_with('.') ? part.substr(1) : part);
    }
  }
  return out;
}

// Where a field's key stands, or else what is nearest to it.
json::Position key_position(const json::YamlDocument& document, const std::string& path) {
  const auto at = document.positions.find(path + "#");
  return at == document.positions.end() ? json::find_position(document, path) : at->second;
}

std::string arrow(const Source& source, json::Position at, std::size_t width,
                  const std::string& note) {
  if (at.line == 0) return fmt::format("  --> {}\n", plain_text(source.file));
  const std::string number = std::to_string(at.line);
  const std::string gap(number.size(), ' ');
  const std::size_t column = at.column > 0 ? static_cast<std::size_t>(at.column) : 1;
  const Excerpt shown = excerpt(line_of(source.text, at.line), column);
  return fmt::format("  --> {}:{}:{}\n   {} | {}\n   {} | {}{}{}{}\n", plain_text(source.file),
                     at.line, at.column, number, shown.text, gap, std::string(shown.mark, ' '),
                     std::string(std::max<std::size_t>(std::min(width, shown.room), 1), '^'),
                     note.empty() ? "" : " ", note);
}

std::string meant(const std::optional<std::string>& guess) {
  return guess ? fmt::format("did you mean \"{}\"?", plain_text(*guess)) : "";
}

std::string explain_unknown(std::string_view told, const Source& source) {
  const std::string path = path_in_file(told, source.document->root);
  std::vector<std::string> known;
  const api::Schema* around =
      source.resource == nullptr ? nullptr : schema_around(source.resource->schema, path);
  if (around != nullptr) {
    for (const auto& field : around->fields) known.push_back(field.name);
  }
  const json::Position position = key_position(*source.document, path);
  const std::string_view name = last_part(path);
  return fmt::format("error: unknown field {}\n{}", plain_text(path),
                     arrow(source, position, name.size(), meant(did_you_mean(name, known))));
}

bool names_dependency(std::string_view field) {
  return field.find("dependsOn[") != std::string_view::npos && field.ends_with("].name");
}

// What a fault's value could have been: the values that its message lists, or the names that
// dependsOn may use.
std::vector<std::string> alternatives(const Cause& cause, const Source& source) {
  if (const std::size_t supported = cause.message.find("supported values:");
      supported != std::string::npos) {
    return quoted(std::string_view(cause.message).substr(supported));
  }
  std::vector<std::string> names;
  if (!names_dependency(cause.field)) return names;
  const std::size_t open = cause.field.find('['), close = cause.field.find(']');
  const std::size_t before =
      open == std::string::npos || close == std::string::npos
          ? 0
          : std::strtoul(cause.field.substr(open + 1, close - open - 1).c_str(), nullptr, 10);
  const auto items = source.document->root.get({"spec", "replicatedJobs"}).items();
  for (std::size_t i = 0; i < std::min(before, items.size()); ++i)
    names.emplace_back(items[i].get("name").as_string());
  return names;
}

// Somebody else has set the field: it is the field that matters, not the value.
std::string explain_conflict(const Cause& cause, const Source& source) {
  const std::string path = path_in_file(cause.field, source.document->root);
  return fmt::format(
      "error: {}: {}\n{}", plain_text(cause.field), plain_lines(cause.message),
      arrow(source, key_position(*source.document, path), last_part(path).size(), ""));
}

std::string explain_cause(const Cause& cause, const Source& source) {
  if (cause.reason == "FieldManagerConflict") return explain_conflict(cause, source);
  const auto words = quoted(cause.message);
  const std::string value = words.empty() ? "" : words.front();
  const auto options = alternatives(cause, source);
  std::string out =
      fmt::format("error: {}: {}\n{}", plain_text(cause.field), plain_lines(cause.message),
                  arrow(source, json::find_position(*source.document, cause.field), value.size(),
                        meant(did_you_mean(value, options))));
  if (!options.empty() && names_dependency(cause.field)) {
    out += fmt::format("  help: dependsOn may name only entries above it in the list: {}\n",
                       fmt::join(options, ", "));
  }
  return out;
}

// The paths of fields that the server does not know, as strict decoding (unknown field "a.b") and
// server-side apply (.a.b: field not declared in schema) name them.
std::vector<std::string> unknown_fields(std::string_view message) {
  constexpr std::string_view kUnknown = "unknown field \"", kUndeclared = ": field not declared";
  std::vector<std::string> paths;
  for (std::size_t at = 0; (at = message.find(kUnknown, at)) != message.npos;) {
    at += kUnknown.size();
    paths.emplace_back(message.substr(at, message.find('"', at) - at));
  }
  for (std::size_t at = 0; (at = message.find(kUndeclared, at)) != message.npos; ++at) {
    const std::size_t dot = message.rfind(" .", at);
    if (dot != message.npos) paths.emplace_back(message.substr(dot + 2, at - dot - 2));
  }
  return paths;
}

// The number that follows a word; 0 if there is none.
int number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.rfind(word);
  if (at == text.npos) return 0;
  int number = 0;
  text.remove_prefix(at + word.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What yaml-cpp says of a line that a tab indents in block style. Elsewhere tabs may stand.
bool may_be_of_tab(std::string_view what) {
  return what.contains("illegal tab") || what.contains("illegal map value");
}

}  // namespace

std::string explain_syntax(const Error& error, const std::string& file, std::string_view text) {
  json::Position at{number_after(error.message, "line "), number_after(error.message, "column ")};
  std::string what = error.message.substr(0, error.message.rfind(" at line "));
  const std::string_view line = at.line > 0 ? line_of(text, at.line) : "";
  const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
  if (may_be_of_tab(what) && tab != line.npos) {
    what = "yaml: a tab cannot indent; use spaces";
    at.column = static_cast<int>(tab) + 1;
  }
  return fmt::format("error: {}\n{}", plain_text(what),
                     arrow({.file = file, .text = text, .document = nullptr}, at, 1, ""));
}

std::string explain_repeated(const Source& source) {
  std::string out;
  for (const json::RepeatedKey& each : source.document->repeated) {
    out += fmt::format("error: key \"{}\" already set in map\n{}", plain_text(each.key),
                       arrow(source, each.at, each.key.size(), ""));
  }
  return out;
}

std::string explain(const Error& error, const Source& source) {
  std::string out;
  for (const std::string& path : unknown_fields(error.message))
    out += explain_unknown(path, source);
  for (const auto& cause : error.causes) {
    // "<nil>" is upstream's way to say that further rules were not looked at.
    if (!cause.field.empty() && cause.field != "<nil>") out += explain_cause(cause, source);
  }
  return out.empty() ? fmt::format("error: {}\n", plain_lines(error.message)) : out;
}

}  // namespace muster::cli
