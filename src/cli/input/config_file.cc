#include "cli/input/config_file.h"

#include <fmt/format.h>

#include "engine/data_dir.h"
#include "json/yaml.h"

namespace muster::cli {
namespace {

using json::Value;

// A text, or a list of texts joined by commas.
Result<std::string> text_of(std::string_view key, Value value) {
  if (value.is_string()) return std::string(value.as_string());
  std::string joined;
  for (const Value item : value.items())
    joined += (joined.empty() ? "" : ",") + std::string(item.as_string());
  if (!value.is_array())
    return fail(Code::kInvalid, fmt::format("{} must be a text or a list of texts", key));
  return joined;
}

Result<std::string> gates_of(Value value) {
  if (!value.is_object())
    return fail(Code::kInvalid, "featureGates must map names to true or false");
  std::string list;
  for (const auto& member : value.members()) {
    list += fmt::format("{}{}={}", list.empty() ? "" : ",", member.key, member.value.as_bool());
  }
  return list;
}

Status take(ServeOptions& options, const ServeOptions& untouched, std::string_view key,
            Value value) {
  const auto fill = [&](std::string& field, const std::string& initial,
                        Result<std::string> text) -> Status {
    if (!text) return std::unexpected(text.error());
    if (field == initial) field = *std::move(text);  // not given on the command line
    return {};
  };
  if (key == "dataDir") return fill(options.data_dir, untouched.data_dir, text_of(key, value));
  if (key == "listen") return fill(options.listen, untouched.listen, text_of(key, value));
  if (key == "kubeconfigOut")
    return fill(options.kubeconfig_out, untouched.kubeconfig_out, text_of(key, value));
  if (key == "controllers")
    return fill(options.controllers, untouched.controllers, text_of(key, value));
  if (key == "featureGates")
    return fill(options.feature_gates, untouched.feature_gates, gates_of(value));
  if (key == "allowRemote") {
    options.allow_remote = options.allow_remote || value.as_bool();
    return {};
  }
  if (key == "names") {
    for (const Value item : value.items()) options.names.emplace_back(item.as_string());
    return {};
  }
  return fail(Code::kInvalid,
              fmt::format("unknown key \"{}\"; known are dataDir, listen, allowRemote, names, "
                          "kubeconfigOut, controllers, featureGates",
                          key));
}

}  // namespace

Status apply_config_file(ServeOptions& options) {
  if (options.config_file.empty()) return {};
  MUSTER_TRY(const std::string text, engine::read_file(options.config_file));
  json::Arena arena;
  MUSTER_TRY(const auto documents, json::parse_yaml(arena, text));
  if (documents.empty()) return {};
  if (documents.size() > 1 || !documents[0].root.is_object()) {
    return fail(Code::kInvalid, options.config_file + ": one YAML mapping is wanted");
  }
  const ServeOptions untouched;
  for (const auto& member : documents[0].root.members()) {
    if (const auto taken = take(options, untouched, member.key, member.value); !taken) {
      const auto at = documents[0].positions.find(std::string(member.key) + "#");
      const int line = at == documents[0].positions.end() ? 0 : at->second.line;
      return fail(Code::kInvalid,
                  fmt::format("{}:{}: {}", options.config_file, line, taken.error().message));
    }
  }
  return {};
}

}  // namespace muster::cli
