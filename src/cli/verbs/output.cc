#include "cli/verbs/output.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/terminal_text.h"
#include "json/sort_keys.h"
#include "json/write.h"
#include "json/yaml.h"

namespace muster::cli {
namespace {

constexpr int kIndent = 4;  // kubectl's

void drop_owners(json::Value object) {
  if (const json::Value metadata = object.get("metadata"); metadata.is_object())
    metadata.erase("managedFields");
  for (const json::Value item : object.get("items").items()) drop_owners(item);
}

std::string names_of(json::Value object) {
  if (!object.has("items")) return object_name(object) + "\n";
  std::string out;
  for (const json::Value item : object.get("items").items()) out += object_name(item) + "\n";
  return out;
}

}  // namespace

std::vector<std::string> output_forms() { return {"wide", "json", "yaml", "name", "jsonpath="}; }

Result<Output> Output::parse(std::string_view text) {
  Output out;
  constexpr std::string_view kPath = "jsonpath=";
  if (text.starts_with(kPath)) {
    out.kind_ = Kind::kJsonPath;
    MUSTER_TRY(out.path_, json::JsonPath::parse(text.substr(kPath.size())));
    return out;
  }
  if (text == "wide") {
    out.kind_ = Kind::kWide;
  } else if (text == "json") {
    out.kind_ = Kind::kJson;
  } else if (text == "yaml") {
    out.kind_ = Kind::kYaml;
  } else if (text == "name") {
    out.kind_ = Kind::kName;
  } else if (!text.empty()) {
    return fail(Code::kInvalid,
                fmt::format("-o {}: the forms are {}", plain_text(text), kOutputHelp));
  }
  return out;
}

std::string Output::print(json::Value object) const {
  drop_owners(object);
  switch (kind_) {
    case Kind::kYaml:
      json::sort_all_keys(object);      // as kubectl prints them
      return json::write_yaml(object);  // which escapes control characters
    case Kind::kName:
      return names_of(object);
    case Kind::kJsonPath:
      return plain_lines(path_->print(object));
    default:
      json::sort_all_keys(object);
      return escaped_json(json::write_pretty(object, kIndent)) + "\n";
  }
}

std::string object_name(json::Value object) {
  const std::string_view version = object.get("apiVersion").as_string();
  const std::size_t slash = version.find('/');
  const std::string kind = lower_case(object.get("kind").as_string());
  return plain_text(
      fmt::format("{}{}{}/{}", kind, slash == version.npos ? "" : ".",
                  slash == version.npos ? std::string_view() : version.substr(0, slash),
                  object.get({"metadata", "name"}).as_string()));
}

}  // namespace muster::cli
